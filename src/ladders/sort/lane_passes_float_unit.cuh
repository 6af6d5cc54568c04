// Compiles lane_sweep's passes over float keys of 16 and 32 bits.
#pragma once
#include "ladders/sort/05_lane_sweep.cuh"

namespace upsweep::ladders::sort {

#if !defined(UPSWEEP_GPU_ONE_TYPE)
template Status lane_passes(const KeyArgs<FloatKeyOrder<std::uint32_t>>&,
                            const BucketSort<FloatKeyOrder<std::uint32_t>>*);
template Status lane_passes(const KeyArgs<FloatKeyOrder<std::uint16_t>>&,
                            const BucketSort<FloatKeyOrder<std::uint16_t>>*);
#endif

}  // namespace upsweep::ladders::sort
