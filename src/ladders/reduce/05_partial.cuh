// reduce/partial: threads sum in registers; one thread sums the block's shared array.
//
// Each thread sums in a register, without atomics, so the loop is bound by memory alone. The epilogue is serial: one
// thread reads blockDim.x sums while the others wait.
//
// Traffic   n reads, coalesced; blockDim.x shared reads by one lane per block.
// Order     thread t of block b sums in[b*blockDim + t + k*gridDim*blockDim] over k; then the threads' sums, by t.
// Source    Owens et al., Intro to Parallel Programming, 2013.
#pragma once
#include "ladders/reduce/final_pass.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void partial_kernel(const T* in,  // [n]
                               T* out,       // [gridDim.x]
                               std::size_t n, Op op) {
  T* const sums = dynamic_shared<T>();  // [blockDim.x]
  const std::size_t step = std::size_t(gridDim.x) * blockDim.x;
  T sum = Op::template neutral<T>();
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) sum = op(sum, in[i]);
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    T total = sums[0];
    for (unsigned t = 1; t < blockDim.x; ++t) total = op(total, sums[t]);
    out[blockIdx.x] = total;
  }
}

struct partial {
  static constexpr Story story{
      .idea = "sums in registers, then one thread sums the block's shared array",
      .prediction = "far faster than atomic_coalesced; the serial end costs a few microseconds per block",
      .guarantees = "same bits for the same grid and block",
      .limits = "any n",
      .source = "Owens et al., Intro to Parallel Programming, 2013"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return by_blocks(a, {.grid = 1024, .block = 256}, [&](T* totals, Shape shape) {
      shape.shared_bytes = shape.block.x * sizeof(T);
      return launch(partial_kernel<T, Op>, shape, a.in, totals, a.n, a.op);
    });
  }
};

}  // namespace upsweep::ladders::reduce
