// reduce/warp_shuffle: lanes exchange their sums by shuffles.
//
// The levels inside each warp, and the levels over the warps' totals, run in registers. Shared memory and a barrier are
// needed only to pass the warps' totals to one warp: one barrier per block instead of nine.
//
// Traffic   n reads, 4 bytes per lane; one shared store per warp.
// Order     fixed by grid and block.
// Source    Luitjens, Faster Parallel Reductions on Kepler, 2014.
#pragma once
#include "kernel/block.h"
#include "ladders/reduce/final_pass.cuh"
#include "ladders/reduce/thread_sum.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void warp_shuffle_kernel(const T* in,  // [n]
                                    T* out,       // [gridDim.x]
                                    std::size_t n, Op op) {
  __shared__ T warp_totals[warp_size];
  const std::size_t step = std::size_t(gridDim.x) * blockDim.x;
  T sum = Op::template neutral<T>();
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) sum = op(sum, in[i]);
  sum = block_reduce(sum, op, warp_totals);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

struct warp_shuffle {
  static constexpr Story story{.idea = "shuffles instead of shared memory: one barrier per block instead of nine",
                               .prediction = "ties with total at large n: both wait for 4-byte loads",
                               .guarantees = "same bits for the same grid and block",
                               .limits = "any n; whole warps",
                               .source = "Luitjens, Faster Parallel Reductions on Kepler, 2014"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return by_blocks(a, {.grid = 1024, .block = 256}, [&](T* totals, const Shape& shape) -> Status {
      if (!whole_warps(shape.block.x)) return not_whole_warps;
      return launch(warp_shuffle_kernel<T, Op>, shape, a.in, totals, a.n, a.op);
    });
  }
};

}  // namespace upsweep::ladders::reduce
