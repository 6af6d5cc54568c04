// Wrong on purpose: the barrier is inside a branch that only some threads take.
//
// Must be caught: barrier divergence.
#pragma once
#include "ladders/reduce/final_pass.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void divergent_barrier_kernel(const T* in,  // [n]
                                         T* out,       // [gridDim.x]
                                         std::size_t n, Op op) {
  T* const sums = dynamic_shared<T>();  // [blockDim.x]
  const unsigned t = threadIdx.x;
  T sum = Op::template neutral<T>();
  for (std::size_t i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum = op(sum, in[i]);
  sums[t] = sum;
  __syncthreads();
  for (unsigned count = blockDim.x; count > 1;) {
    const unsigned half = (count + 1) / 2;
    if (t >= count - half) break;
    sums[t] = op(sums[t], sums[t + half]);
    __syncthreads();
    count = half;
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

struct divergent_barrier {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "a barrier that not all threads reach", .prediction = "barrier divergence"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return by_blocks(a, {.grid = 4, .block = 128}, [&](T* totals, Shape shape) {
      shape.shared_bytes = shape.block.x * sizeof(T);
      return launch(divergent_barrier_kernel<T, Op>, shape, a.in, totals, a.n, a.op);
    });
  }
};

}  // namespace upsweep::ladders::reduce
