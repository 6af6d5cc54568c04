// A thread's share of the input, read 16 bytes at a time with several loads in flight.
#pragma once
#include "kernel/vector.h"
#include "ladders/reduce/contract.h"

namespace upsweep::ladders::reduce {

// grid_stride: the grid strides through the whole input. shares: each block walks a contiguous share.
enum class Walk { grid_stride, shares };
// Shares with 16 times as many blocks as are resident are faster on an H200 from 512 MB on (docs/notes/reduce.md).
inline constexpr unsigned shares_waves = 16;
inline constexpr std::size_t shares_pay_from = std::size_t{512} << 20;  // bytes

// A thread's packs: first, first + step, ... before end.
struct Steps {
  std::size_t first, end, step;
};
template <Walk walk>
__device__ Steps steps_of_thread(std::size_t packs) {
  if constexpr (walk == Walk::grid_stride) {
    return {std::size_t(blockIdx.x) * blockDim.x + threadIdx.x, packs, std::size_t(gridDim.x) * blockDim.x};
  } else {  // a share is a whole number of rows of a block
    const std::size_t share = ceil_div(ceil_div(packs, gridDim.x), blockDim.x) * blockDim.x;
    const std::size_t begin = blockIdx.x * share;
    return {begin + threadIdx.x, begin + share < packs ? begin + share : packs, blockDim.x};
  }
}

// Reduces this thread's packs, and its part of the unaligned ends. `InFlight` loads are issued before the first is
// used: a load from memory takes about 0.7 us, so 4.6 TB/s * 0.7 us = 3.2 MB must be in flight at any time, 24 KB per
// multiprocessor.
template <unsigned InFlight, Walk walk = Walk::grid_stride, class T, class Op>
__device__ T thread_sum(const PackSplit<T>& split, const T* in, Op op) {
  const auto [first, end, step] = steps_of_thread<walk>(split.packs);
  const std::size_t thread = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  // Two chains of additions, so that additions of four cycles keep up with the loads. A tree over the round would be
  // shorter, but the compiler then adds each load as it arrives and keeps fewer in flight: 0.78 of the ceiling at 2^28.
  T sums[2] = {Op::template neutral<T>(), Op::template neutral<T>()};

  // 1. The ends: fewer than Pack<T>::size elements each. A grid has at least that many threads.
  if (thread < split.head) sums[0] = op(sums[0], in[thread]);
  if (thread < split.tail) sums[1] = op(sums[1], split.aligned[split.packs * Pack<T>::size + thread]);

  // 2. Full rounds.
  Pack<T> packs[InFlight];
  std::size_t i = first;
  for (; i + (InFlight - 1) * step < end; i += InFlight * step) {
#pragma unroll
    for (unsigned k = 0; k < InFlight; ++k) packs[k] = load_pack(split.aligned + (i + k * step) * Pack<T>::size);
#pragma unroll
    for (unsigned k = 0; k < InFlight; ++k) sums[k % 2] = op(sums[k % 2], fold(packs[k], op));
  }

  // 3. The last, partial round, with all of its loads in flight together too: one by one they would cost up to
  //    InFlight - 1 latencies.
#pragma unroll
  for (unsigned k = 0; k < InFlight - 1; ++k)
    if (i + k * step < end) packs[k] = load_pack(split.aligned + (i + k * step) * Pack<T>::size);
#pragma unroll
  for (unsigned k = 0; k < InFlight - 1; ++k)
    if (i + k * step < end) sums[k % 2] = op(sums[k % 2], fold(packs[k], op));
  return op(sums[0], sums[1]);
}

}  // namespace upsweep::ladders::reduce
