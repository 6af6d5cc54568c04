// Wrong on purpose: the elements after the last whole pack of 16 bytes are skipped.
//
// Must be caught: a wrong value at every n that is not a multiple of 4.
#pragma once
#include "kernel/block.h"
#include "kernel/vector.h"
#include "ladders/reduce/final_pass.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void dropped_tail_kernel(const T* in,  // [n]
                                    T* out,       // [gridDim.x]
                                    std::size_t n, Op op) {
  __shared__ T warp_totals[warp_size];
  const PackSplit<T> split(in, n);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  T sum = Op::template neutral<T>();
  if (thread < split.head) sum = op(sum, in[thread]);
  for (std::size_t i = thread; i < split.packs; i += gridDim.x * blockDim.x)
    sum = op(sum, fold(load_pack(split.aligned + i * Pack<T>::size), op));
  sum = block_reduce(sum, op, warp_totals);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

struct dropped_tail {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "a vectorised loop without its tail",
                               .prediction = "a wrong value at every n that is not a multiple of 4"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return by_blocks(a, {.grid = 4, .block = 128}, [&](T* totals, const Shape& shape) {
      return launch(dropped_tail_kernel<T, Op>, shape, a.in, totals, a.n, a.op);
    });
  }
};

}  // namespace upsweep::ladders::reduce
