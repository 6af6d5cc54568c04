// reduce/atomic: every thread adds each element of a contiguous chunk to its block's total with an atomic.
//
// All threads work, but the threads of a block contend for one address. Neighbouring lanes read elements one chunk
// apart, so a request touches up to 32 sectors.
//
// Traffic   n reads, up to 32 sectors per request; n atomics on gridDim.x addresses.
// Order     any, so float sums may differ from run to run; f32 atomics on global memory flush subnormals to zero.
// Source    Owens et al., Intro to Parallel Programming, 2013.
#pragma once
#include "kernel/atomic.h"
#include "ladders/reduce/final_pass.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void atomic_kernel(const T* in,  // [n]
                              T* out,       // [gridDim.x]
                              std::size_t n, Op op) {
  if (threadIdx.x == 0) out[blockIdx.x] = Op::template neutral<T>();
  __syncthreads();
  const std::size_t thread = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t chunk = ceil_div(n, std::size_t(gridDim.x) * blockDim.x);
  const std::size_t begin = thread * chunk;
  const std::size_t end = begin + chunk < n ? begin + chunk : n;
  for (std::size_t i = begin; i < end; ++i) atomic_combine(&out[blockIdx.x], in[i], op);
}

struct atomic {
  static constexpr bool flushes_subnormals = true;
  static constexpr Story story{.idea = "all threads work; one atomic per element on the block's total",
                               .prediction = "bound by atomics on one address per block, not by memory",
                               .guarantees = "any order: float sums vary from run to run; f32 subnormals count as zero",
                               .limits = "any n",
                               .source = "Owens et al., Intro to Parallel Programming, 2013"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return by_blocks(a, {.grid = 1024, .block = 256}, [&](T* totals, const Shape& shape) {
      return launch(atomic_kernel<T, Op>, shape, a.in, totals, a.n, a.op);
    });
  }
};

}  // namespace upsweep::ladders::reduce
