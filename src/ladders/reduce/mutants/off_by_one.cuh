// Wrong on purpose: the loop reads one element too many.
//
// Must be caught: a read past the end of the input.
#pragma once
#include "ladders/reduce/final_pass.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void off_by_one_kernel(const T* in,  // [n]
                                  T* out,       // [gridDim.x]
                                  std::size_t n, Op op) {
  T* const sums = dynamic_shared<T>();  // [blockDim.x]
  const unsigned t = threadIdx.x;
  T sum = Op::template neutral<T>();
  for (std::size_t i = blockIdx.x * blockDim.x + t; i <= n; i += gridDim.x * blockDim.x) sum = op(sum, in[i]);
  sums[t] = sum;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sums[t] = op(sums[t], sums[t + half]);
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

struct off_by_one {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "a loop bound with <= instead of <",
                               .prediction = "a read past the end of the input"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return by_blocks(a, {.grid = 4, .block = 128}, [&](T* totals, Shape shape) {
      shape.shared_bytes = shape.block.x * sizeof(T);
      return launch(off_by_one_kernel<T, Op>, shape, a.in, totals, a.n, a.op);
    });
  }
};

}  // namespace upsweep::ladders::reduce
