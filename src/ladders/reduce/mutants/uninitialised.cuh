// Wrong on purpose: threads without an element do not write their slot of the shared array.
//
// Must be caught: an uninitialised shared read when n is smaller than the grid.
#pragma once
#include "ladders/reduce/final_pass.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void uninitialised_kernel(const T* in,  // [n]
                                     T* out,       // [gridDim.x]
                                     std::size_t n, Op op) {
  T* const sums = dynamic_shared<T>();  // [blockDim.x]
  const unsigned t = threadIdx.x;
  T sum = Op::template neutral<T>();
  for (std::size_t i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum = op(sum, in[i]);
  if (blockIdx.x * blockDim.x + t < n) sums[t] = sum;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sums[t] = op(sums[t], sums[t + half]);
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

struct uninitialised {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "a shared array that is only partly written",
                               .prediction = "an uninitialised shared read when n is smaller than the grid"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return by_blocks(a, {.grid = 4, .block = 128}, [&](T* totals, Shape shape) {
      shape.shared_bytes = shape.block.x * sizeof(T);
      return launch(uninitialised_kernel<T, Op>, shape, a.in, totals, a.n, a.op);
    });
  }
};

}  // namespace upsweep::ladders::reduce
