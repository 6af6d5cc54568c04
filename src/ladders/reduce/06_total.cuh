// reduce/total: the shared array is reduced as a tree.
//
// Each thread contributes two sums, so all threads add at the first level; each further level halves the number of
// active threads. Active threads stay adjacent, so there are no bank conflicts, and threads go idle by whole warps.
//
// Traffic   n reads, coalesced; log2(2 * blockDim.x) levels, one barrier each.
// Order     fixed by grid and block.
// Source    Harris, Optimizing Parallel Reduction in CUDA, 2007; Hwu, Kirk and El Hajj, PMPP, 4th ed., 2022, ch. 10.
#pragma once
#include "ladders/reduce/final_pass.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void total_kernel(const T* in,  // [n]
                             T* out,       // [gridDim.x]
                             std::size_t n, Op op) {
  T* const sums = dynamic_shared<T>();  // [2 * blockDim.x]
  const unsigned t = threadIdx.x;

  // 1. Two sums per thread, over the whole input.
  const std::size_t step = 2 * std::size_t(gridDim.x) * blockDim.x;
  T first = Op::template neutral<T>(), second = first;
  for (std::size_t i = 2 * std::size_t(blockIdx.x) * blockDim.x + t; i < n; i += step) {
    first = op(first, in[i]);
    if (i + blockDim.x < n) second = op(second, in[i + blockDim.x]);
  }
  sums[t] = first;
  sums[t + blockDim.x] = second;

  // 2. The tree. `half` rounds up, so that no sum is lost if the block size is not a power of two.
  for (unsigned count = 2 * blockDim.x; count > 1;) {
    const unsigned half = (count + 1) / 2;
    __syncthreads();
    if (t < count - half) sums[t] = op(sums[t], sums[t + half]);
    count = half;
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

struct total {
  static constexpr Story story{.idea = "the block's sums are reduced as a tree, every thread active at the first level",
                               .prediction = "ties with partial at large n; faster where the end of a block matters",
                               .guarantees = "same bits for the same grid and block",
                               .limits = "any n",
                               .source = "Harris, Optimizing Parallel Reduction in CUDA, 2007"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return by_blocks(a, {.grid = 1024, .block = 256}, [&](T* totals, Shape shape) {
      shape.shared_bytes = 2 * shape.block.x * sizeof(T);
      return launch(total_kernel<T, Op>, shape, a.in, totals, a.n, a.op);
    });
  }
};

}  // namespace upsweep::ladders::reduce
