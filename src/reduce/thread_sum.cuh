// A thread's share of the input, read 16 bytes at a time with several loads in flight.
#pragma once
#include "kernel/vector.h"
#include "reduce/contract.h"

namespace upsweep::reduce {

// op over part[0 .. Count), as a tree. Count is a power of two; overwrites part.
template <unsigned Count, class T, class Op>
__device__ __forceinline__ T tree(T (&part)[Count], Op op) {
#pragma unroll
  for (unsigned width = Count / 2; width > 0; width /= 2)
#pragma unroll
    for (unsigned k = 0; k < Count / 2; ++k)
      if (k < width) part[k] = op(part[k], part[k + width]);
  return part[0];
}

// op over the packs that are this thread's in a grid-stride walk, and over its share of the unaligned ends. `InFlight`
// loads are issued before the first is used: a load takes about 0.7 us from memory, and 4.6 TB/s * 0.7 us = 3.2 MB must
// be on the way at any time, 24 KB a multiprocessor.
template <unsigned InFlight, class T, class Op>
__device__ T thread_sum(const PackSplit<T>& split, const T* in, Op op) {
  const std::size_t step = std::size_t(gridDim.x) * blockDim.x;
  const std::size_t thread = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  T sum = Op::template neutral<T>();

  // 1. The ends: fewer than Pack<T>::size elements each. A grid has at least that many threads.
  if (thread < split.head) sum = op(sum, in[thread]);
  if (thread < split.tail) sum = op(sum, split.aligned[split.packs * Pack<T>::size + thread]);

  // 2. Full rounds. Each is added up as a tree, so that one addition a round, not one a load, waits for the one before.
  T part[InFlight];
  std::size_t i = thread;
  for (; i + (InFlight - 1) * step < split.packs; i += InFlight * step) {
    Pack<T> packs[InFlight];
#pragma unroll
    for (unsigned k = 0; k < InFlight; ++k) packs[k] = load_pack(split.aligned + (i + k * step) * Pack<T>::size);
#pragma unroll
    for (unsigned k = 0; k < InFlight; ++k) part[k] = fold(packs[k], op);
    sum = op(sum, tree(part, op));
  }

  // 3. The last round, short, but all of its loads in flight together as well: one by one they would cost up to
  //    InFlight - 1 latencies.
#pragma unroll
  for (unsigned k = 0; k < InFlight; ++k)
    part[k] = i + k * step < split.packs ? fold(load_pack(split.aligned + (i + k * step) * Pack<T>::size), op)
                                         : Op::template neutral<T>();
  return op(sum, tree(part, op));
}

// Blocks for n elements when a thread should have `packs` packs to read, at most `per_sm` blocks a multiprocessor.
template <class T>
unsigned blocks_for(std::size_t n, unsigned block, unsigned packs, unsigned per_sm) {
  const std::size_t wanted = ceil_div(n, std::size_t(block) * packs * Pack<T>::size);
  const std::size_t most = std::size_t(device_limits().multiprocessors) * per_sm;
  return static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

// A block that block_reduce() can work with.
constexpr bool whole_warps(unsigned block) { return block >= warp_size && block <= 1024 && block % warp_size == 0; }
inline constexpr Status not_whole_warps{Code::unsupported, 0,
                                        "this rung needs blocks of whole warps, 32 to 1024 threads"};

}  // namespace upsweep::reduce
