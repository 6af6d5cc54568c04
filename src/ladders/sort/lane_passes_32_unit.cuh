// Compiles lane_sweep's passes over integer keys of up to 32 bits.
#pragma once
#include "ladders/sort/05_lane_sweep.cuh"

namespace upsweep::ladders::sort {

template Status lane_passes(const KeyArgs<KeyOrder<std::uint32_t>>&, const BucketSort<KeyOrder<std::uint32_t>>*);
#if !defined(UPSWEEP_GPU_ONE_TYPE)
template Status lane_passes(const KeyArgs<KeyOrder<std::uint16_t>>&, const BucketSort<KeyOrder<std::uint16_t>>*);
#endif

}  // namespace upsweep::ladders::sort
