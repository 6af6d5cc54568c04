// select/simd, find_repeats, unique and run_length_encode: loops that compare neighbours. See cpu_simd.cpp.
#include "cpu/skipped_targets.h"
#define HWY_WANT_AVX3_DL  // compresses bytes and 16-bit words in one instruction
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/select/cpu_simd_runs.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ladders/select/cpu_select-inl.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::select::HWY_NAMESPACE {
PartLoops find_runs(Type type, Selection selection) {
  if (selection == Selection::find_repeats) return loops_of<Selection::find_repeats>(type);
  if (selection == Selection::unique) return loops_of<Selection::unique>(type);
  return loops_of<Selection::run_length_encode>(type);
}
}  // namespace upsweep::ladders::select::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::select {

HWY_EXPORT(find_runs);
PartLoops run_loops(Type type, Selection selection) { return HWY_DYNAMIC_DISPATCH(find_runs)(type, selection); }

}  // namespace upsweep::ladders::select
#endif  // HWY_ONCE
