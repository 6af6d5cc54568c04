// reduce/atomic_coalesced: atomic as a grid-stride loop, so that a warp reads 32 consecutive elements.
//
// A request now touches 4 sectors instead of 32. The atomics are still the bottleneck, so coalescing gains little.
//
// Traffic   n reads, 4 sectors per request of 4-byte elements; n atomics on gridDim.x addresses.
// Order     any, so float sums may differ from run to run; f32 atomics on global memory flush subnormals to zero.
// Source    Owens et al., Intro to Parallel Programming, 2013.
#pragma once
#include "kernel/atomic.h"
#include "ladders/reduce/final_pass.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void atomic_coalesced_kernel(const T* in,  // [n]
                                        T* out,       // [gridDim.x]
                                        std::size_t n, Op op) {
  if (threadIdx.x == 0) out[blockIdx.x] = Op::template neutral<T>();
  __syncthreads();
  const std::size_t step = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    atomic_combine(&out[blockIdx.x], in[i], op);
}

struct atomic_coalesced {
  static constexpr bool flushes_subnormals = true;
  static constexpr Story story{.idea = "a warp reads 32 consecutive elements: 4 sectors per request, not 32",
                               .prediction = "hardly faster than atomic: the atomics are still the bottleneck",
                               .guarantees = "any order: float sums vary from run to run; f32 subnormals count as zero",
                               .limits = "any n",
                               .source = "Owens et al., Intro to Parallel Programming, 2013"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return by_blocks(a, {.grid = 1024, .block = 256}, [&](T* totals, const Shape& shape) {
      return launch(atomic_coalesced_kernel<T, Op>, shape, a.in, totals, a.n, a.op);
    });
  }
};

}  // namespace upsweep::ladders::reduce
