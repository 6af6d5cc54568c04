// How a one-launch reduction ends: every block puts its total in a mailbox, the last block takes them all.
#pragma once
#include "kernel/block.h"
#include "kernel/mailbox.h"
#include "ladders/reduce/thread_sum.cuh"

namespace upsweep::ladders::reduce {

// op over `sum` of all threads of all blocks, to out[0]. Totals are taken in block order.
template <class T, class Op>
__device__ void finish(T sum, Op op,
                       unsigned long long* totals,  // [gridDim.x * words_per<T>], zero; left zero
                       T* out) {                    // [1]
  __shared__ T warp_totals[warp_size];
  sum = block_reduce(sum, op, warp_totals);
  const unsigned last = gridDim.x - 1;
  if (blockIdx.x != last) {
    if (threadIdx.x == 0) put(totals + blockIdx.x * words_per<T>, sum);
    return;
  }
  if (last > 0) {
    if (threadIdx.x != 0) sum = Op::template neutral<T>();  // thread 0 keeps this block's own total
    for (unsigned b = threadIdx.x; b < last; b += blockDim.x) sum = op(sum, take<T>(totals + b * words_per<T>));
    __syncthreads();  // warp_totals is used again
    sum = block_reduce(sum, op, warp_totals);
  }
  if (threadIdx.x == 0) out[0] = sum;
}

template <class T, class Op>
unsigned long long* mailboxes(const Args<T, Op>& a, unsigned grid) {
  static_assert(sizeof(unsigned long long) == 2 * sizeof(unsigned));
  return reinterpret_cast<unsigned long long*>(a.workspace->counters(2 * std::size_t(grid) * words_per<T>));
}

}  // namespace upsweep::ladders::reduce
