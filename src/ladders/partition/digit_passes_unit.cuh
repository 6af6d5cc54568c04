// A unit of its own: the passes by a digit that several rungs make.
#pragma once
#include "ladders/partition/lane_pass.cuh"
#include "ladders/partition/lookback_pass.cuh"

namespace upsweep::ladders::partition {

template Status lane_pass(const Args<std::uint32_t, By<Bucketing::digit>>&);
template Status lookback_pass(const Args<std::uint32_t, By<Bucketing::digit>>&);
#if !defined(UPSWEEP_GPU_ONE_TYPE)
template Status lane_pass(const Args<std::uint64_t, By<Bucketing::digit>>&);
template Status lookback_pass(const Args<std::uint64_t, By<Bucketing::digit>>&);
#endif

}  // namespace upsweep::ladders::partition
