// select/simd, partition_if: loops that also move the elements that are not selected. See cpu_simd.cpp.
#include "cpu/skipped_targets.h"
#define HWY_WANT_AVX3_DL  // compresses bytes and 16-bit words in one instruction
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/select/cpu_simd_partition.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ladders/select/cpu_select-inl.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::select::HWY_NAMESPACE {
PartLoops find_partition(Type type) { return loops_of<Selection::partition_if>(type); }
}  // namespace upsweep::ladders::select::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::select {

HWY_EXPORT(find_partition);
PartLoops partition_loops(Type type) { return HWY_DYNAMIC_DISPATCH(find_partition)(type); }

}  // namespace upsweep::ladders::select
#endif  // HWY_ONCE
