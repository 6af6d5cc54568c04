// The second launch of the rungs that store one total per block.
#pragma once
#include "kernel/kernel.h"
#include "ladders/reduce/contract.h"

namespace upsweep::ladders::reduce {

// One block: each thread sums every 256th total, then a tree combines the sums in shared memory. count is 0 if n is 0.
template <class T, class Op>
__global__ void final_pass_kernel(const T* totals,  // [count]
                                  T* out,           // [1]
                                  unsigned count, Op op) {
  __shared__ T sums[256];
  T sum = Op::template neutral<T>();
  for (unsigned i = threadIdx.x; i < count; i += 256) sum = op(sum, totals[i]);
  sums[threadIdx.x] = sum;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] = op(sums[threadIdx.x], sums[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) out[0] = count > 0 ? sums[0] : value_of_none<Op, T>();
}

// Runs first_pass(totals, shape), which stores shape.grid.x totals, then reduces the totals into a.out. The caller's
// grid and block override those of `shape`. By default, every block has elements unless n is 0.
template <class T, class Op, class FirstPass>
Status by_blocks(const Args<T, Op>& a, Shape shape, FirstPass&& first_pass) {
  shape.block.x = a.tuning.block_or(shape.block.x);
  const std::size_t useful = a.n == 0 ? 1 : ceil_div(a.n, shape.block.x);
  if (useful < shape.grid.x) shape.grid.x = static_cast<unsigned>(useful);
  shape.grid.x = a.tuning.grid_or(shape.grid.x);
  shape.stream = a.stream;
  Scratch scratch(*a.workspace);
  T* const totals = scratch.take<T>(shape.grid.x);
  if (!scratch) return {Code::out_of_memory, 0, "no memory for the block totals"};
  if (Status s = first_pass(totals, shape); !s) return s;
  return launch(final_pass_kernel<T, Op>, {.grid = 1, .block = 256, .stream = a.stream}, totals, a.out,
                a.n > 0 ? shape.grid.x : 0, a.op);
}

}  // namespace upsweep::ladders::reduce
