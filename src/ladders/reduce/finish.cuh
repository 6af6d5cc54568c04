// The end of a one-launch reduction: every block puts its total into a mailbox, and the last block collects the totals.
#pragma once
#include "kernel/block.h"
#include "kernel/mailbox.h"
#include "ladders/reduce/thread_sum.cuh"

namespace upsweep::ladders::reduce {

// Combines the `total` of every thread of `blocks` blocks, of which this one is number `block`; by default, of the
// grid. Called by all threads of all these blocks. Returns true to the one thread that then has the result in `total`:
// thread 0 of the last block. The order in which totals are combined depends only on `blocks` and blockDim.x.
template <class T, class Op>
__device__ bool collect(T& total, Op op,
                        unsigned long long* totals,  // [blocks * words_per<T>], zero; left zero
                        unsigned block = blockIdx.x, unsigned blocks = gridDim.x) {
  __shared__ T warp_totals[warp_size];
  total = block_reduce(total, op, warp_totals);
  const unsigned last = blocks - 1;
  if (block != last) {
    if (threadIdx.x == 0) put(totals + block * words_per<T>, total);
    return false;
  }
  if (last > 0) {
    if (threadIdx.x != 0) total = Op::template neutral<T>();  // thread 0 starts from this block's total
    for (unsigned b = threadIdx.x; b < last; b += blockDim.x) total = op(total, take<T>(totals + b * words_per<T>));
    __syncthreads();  // warp_totals is reused
    total = block_reduce(total, op, warp_totals);
  }
  return threadIdx.x == 0;
}

// Combines the initial value and the `sum` of every thread in the grid, of n elements in total, and writes the result
// to out[0].
template <class A, class T, class Op>
__device__ void finish(A sum, Op op,
                       unsigned long long* totals,  // [gridDim.x * words_per<A>], zero; left zero
                       T* out,                      // [1]
                       std::size_t n, Initial<T, Op> initial = {}) {
  if (collect(sum, op, totals)) out[0] = with_initial(sum, n, op, initial);
}

template <class T>
unsigned long long* mailboxes(const Execution& execution, unsigned grid) {
  static_assert(sizeof(unsigned long long) == 2 * sizeof(unsigned));
  return reinterpret_cast<unsigned long long*>(execution.workspace->counters(2 * std::size_t(grid) * words_per<T>));
}

}  // namespace upsweep::ladders::reduce
