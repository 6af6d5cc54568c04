// Compiles lane_sweep's passes over 64-bit keys.
#pragma once
#include "ladders/sort/05_lane_sweep.cuh"

namespace upsweep::ladders::sort {

#if !defined(UPSWEEP_GPU_ONE_TYPE)
template Status lane_passes(const KeyArgs<KeyOrder<std::uint64_t>>&, const BucketSort<KeyOrder<std::uint64_t>>*);
template Status lane_passes(const KeyArgs<FloatKeyOrder<std::uint64_t>>&,
                            const BucketSort<FloatKeyOrder<std::uint64_t>>*);
#endif

}  // namespace upsweep::ladders::sort
