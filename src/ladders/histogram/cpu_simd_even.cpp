// histogram/simd, even bins of samples of up to 4 bytes. See cpu_simd.cpp.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/histogram/cpu_simd_even.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ladders/histogram/cpu_count-inl.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::histogram::HWY_NAMESPACE {
RowLoops find_even(Type type) { return loops_of<By<Binning::even>>(type); }
}  // namespace upsweep::ladders::histogram::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::histogram {

HWY_EXPORT(find_even);
RowLoops even_loops(Type type) { return HWY_DYNAMIC_DISPATCH(find_even)(type); }

}  // namespace upsweep::ladders::histogram
#endif  // HWY_ONCE
