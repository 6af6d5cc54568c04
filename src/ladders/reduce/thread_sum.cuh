// Per-thread partial sums: 16-byte loads, several in flight.
#pragma once
#include "kernel/rows.h"
#include "ladders/reduce/contract.h"

namespace upsweep::ladders::reduce {

// The division of the packs. grid_stride: a grid-stride loop. shares: each block walks a contiguous share. warp: every
// warp walks an array of its own.
enum class Walk { grid_stride, shares, warp };
// The number of waves of blocks for shares, and the minimum input for that many; measured on an H200
// (docs/notes/reduce.md).
inline constexpr unsigned shares_waves = 16;
inline constexpr std::size_t shares_pay_from = std::size_t{512} << 20;  // bytes

// The packs of one thread: first, first + step, ... below end.
struct Steps {
  std::size_t first, end, step;
};
// Returns the packs of this thread in block `block` of the `blocks` that share the array: by default the whole grid,
// otherwise the blocks that reduce one segment.
template <Walk walk>
__device__ Steps steps_of_thread(std::size_t packs, unsigned block = blockIdx.x, unsigned blocks = gridDim.x) {
  if constexpr (walk == Walk::grid_stride) {
    return {std::size_t(block) * blockDim.x + threadIdx.x, packs, std::size_t(blocks) * blockDim.x};
  } else if constexpr (walk == Walk::warp) {
    return {threadIdx.x % warp_size, packs, warp_size};
  } else {  // a share is a whole number of rows of blockDim.x packs
    const std::size_t share = ceil_div(ceil_div(packs, blocks), blockDim.x) * blockDim.x;
    const std::size_t begin = block * share;
    return {begin + threadIdx.x, begin + share < packs ? begin + share : packs, blockDim.x};
  }
}

// Prefetches the block's first `Rows` rows of blockDim.x packs into L2: thread t prefetches row t.
template <unsigned Rows, class T>
__device__ __forceinline__ void prefetch_rows(const PackSplit<T>& split, const Steps& steps) {
  const std::size_t row = steps.first - threadIdx.x + threadIdx.x * steps.step;
  if (Rows > 0 && threadIdx.x < Rows && row < steps.end) {
    const std::size_t left = steps.end - row;
    prefetch_l2(split.aligned + row * Pack<T>::size, 16 * unsigned(left < blockDim.x ? left : blockDim.x));
  }
}

// Resident threads per multiprocessor of an H200 for a kernel with `InFlight` loads in flight per thread: the maximum,
// 2048, for up to four; half of it for more, because the kernel may then need 64 registers per thread.
template <unsigned InFlight>
inline constexpr unsigned resident_threads = InFlight > 4 ? 1024 : 2048;

// Returns the reduction of this thread's packs and of its elements of the unaligned ends. Each thread issues `InFlight`
// loads before it uses the first: on an H200, a load from memory takes about 0.7 us, so 4.6 TB/s * 0.7 us = 3.2 MB must
// be in flight, 24 KB per multiprocessor.
template <class Out, unsigned InFlight, Walk walk = Walk::grid_stride, class T, class Op>
__device__ Out thread_sum(const PackSplit<T>& split, const T* in, Op op, unsigned block = blockIdx.x,
                          unsigned blocks = gridDim.x) {
  const auto [first, end, step] = steps_of_thread<walk>(split.packs, block, blocks);
  const std::size_t thread =
      walk == Walk::warp ? threadIdx.x % warp_size : std::size_t(block) * blockDim.x + threadIdx.x;
  const auto load = [&](std::size_t i) {
    return load_once(reinterpret_cast<const uint4*>(split.aligned + i * Pack<T>::size));
  };
  // Two chains of additions, because one add takes four cycles and a single chain would lag behind the loads. A tree
  // per round would be shorter, but the compiler then adds each load as it arrives and keeps fewer loads in flight:
  // 0.78 of the read ceiling at 2^28.
  Out sums[2] = {Op::template neutral<Out>(), Op::template neutral<Out>()};

  // 1. The unaligned ends: fewer than Pack<T>::size elements each, and every grid and warp has that many threads.
  if (thread < split.head) sums[0] = op(sums[0], Out(in[thread]));
  if (thread < split.tail) sums[1] = op(sums[1], Out(split.aligned[split.packs * Pack<T>::size + thread]));

  // 2. Full rounds.
  uint4 packs[InFlight];  // raw: one-byte items would take a register each
  std::size_t i = first;
  for (; i + (InFlight - 1) * step < end; i += InFlight * step) {
#pragma unroll
    for (unsigned k = 0; k < InFlight; ++k) packs[k] = load(i + k * step);
#pragma unroll
    for (unsigned k = 0; k < InFlight; ++k) sums[k % 2] = op(sums[k % 2], Out(fold_raw<T, Out>(packs[k], op)));
  }

  // 3. The last, partial round, also with all loads in flight together: one by one, they would cost up to InFlight - 1
  //    latencies.
#pragma unroll
  for (unsigned k = 0; k < InFlight - 1; ++k)
    if (i + k * step < end) packs[k] = load(i + k * step);
#pragma unroll
  for (unsigned k = 0; k < InFlight - 1; ++k)
    if (i + k * step < end) sums[k % 2] = op(sums[k % 2], Out(fold_raw<T, Out>(packs[k], op)));
  return op(sums[0], sums[1]);
}

}  // namespace upsweep::ladders::reduce
