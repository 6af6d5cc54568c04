// histogram/simd, edges and direct bins of samples of up to 4 bytes. See cpu_simd.cpp.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/histogram/cpu_simd_edges.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ladders/histogram/cpu_count-inl.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::histogram::HWY_NAMESPACE {
RowLoops find_other(Type type, Binning binning) {
  return binning == Binning::edges ? loops_of<By<Binning::edges>>(type) : loops_of<By<Binning::direct>>(type);
}
}  // namespace upsweep::ladders::histogram::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::histogram {

HWY_EXPORT(find_other);
RowLoops other_loops(Type type, Binning binning) { return HWY_DYNAMIC_DISPATCH(find_other)(type, binning); }

}  // namespace upsweep::ladders::histogram
#endif  // HWY_ONCE
