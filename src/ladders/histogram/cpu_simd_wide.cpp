// histogram/simd, samples of 8 bytes. See cpu_simd.cpp.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/histogram/cpu_simd_wide.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ladders/histogram/cpu_count-inl.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::histogram::HWY_NAMESPACE {
RowLoops find_wide(Type type, Binning binning) {
  if (binning == Binning::edges) return {};
  return binning == Binning::even ? loops_of<By<Binning::even>, true>(type) : loops_of<By<Binning::direct>, true>(type);
}
}  // namespace upsweep::ladders::histogram::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::histogram {

HWY_EXPORT(find_wide);
RowLoops wide_loops(Type type, Binning binning) { return HWY_DYNAMIC_DISPATCH(find_wide)(type, binning); }

}  // namespace upsweep::ladders::histogram
#endif  // HWY_ONCE
