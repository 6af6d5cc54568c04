// A separate translation unit for passes by a digit, which several rungs use.
#pragma once
#include "ladders/partition/passes.cuh"

namespace upsweep::ladders::partition {

template Status lane_pass(const Args<std::uint32_t, By<Bucketing::digit>>&);
template Status lookback_pass(const Args<std::uint32_t, By<Bucketing::digit>>&);
#if !defined(UPSWEEP_GPU_ONE_TYPE)
template Status lane_pass(const Args<std::uint64_t, By<Bucketing::digit>>&);
template Status lookback_pass(const Args<std::uint64_t, By<Bucketing::digit>>&);
#endif

}  // namespace upsweep::ladders::partition
