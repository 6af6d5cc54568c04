// reduce/ticket: one launch; the last block to finish sums the totals.
//
// A second launch costs about a microsecond. Instead, each block takes a ticket after it stores its total; the block
// with the last ticket knows that all totals are stored. It combines them in a fixed order, so the sum does not depend
// on which block finishes last.
//
// Traffic   as vec16; one ticket per block.
// Order     fixed by grid, block and the alignment of the input.
// Source    NVIDIA CUDA samples, threadFenceReduction, 2009.
#pragma once
#include "kernel/block.h"
#include "ladders/reduce/thread_sum.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void __launch_bounds__(1024) ticket_kernel(const T* in,        // [n]
                                                      T* out,             // [1]
                                                      T* totals,          // [gridDim.x]
                                                      unsigned* counter,  // [1], zero; left zero
                                                      std::size_t n, Op op) {
  __shared__ T warp_totals[warp_size];
  __shared__ bool is_last;

  // 1. Store the block's total and take a ticket.
  T sum = block_reduce(thread_sum<T, 8>(PackSplit<T>(in, n), in, op), op, warp_totals);
  if (threadIdx.x == 0) {
    totals[blockIdx.x] = sum;
    is_last = take_ticket(counter) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;

  // 2. The last block sums the totals.
  sum = Op::template neutral<T>();
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum = op(sum, __ldcg(totals + b));
  sum = block_reduce(sum, op, warp_totals);
  if (threadIdx.x == 0) {
    out[0] = n > 0 ? sum : value_of_none<Op, T>();
    *counter = 0;
  }
}

struct ticket {
  static constexpr Story story{.idea = "one launch: the last block to finish sums the totals",
                               .prediction = "a microsecond less than vec16 at every size",
                               .guarantees = "same bits for the same grid, block and alignment",
                               .limits = "any n; whole warps",
                               .source = "NVIDIA CUDA samples, threadFenceReduction, 2009"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const unsigned block = a.tuning.block_or(512);
    const unsigned grid = a.tuning.grid_or(blocks_for<T>(a.n, block, 1, 2));
    if (!whole_warps(block)) return not_whole_warps;
    Scratch scratch(*a.workspace);
    T* const totals = scratch.take<T>(grid);
    unsigned* const counter = a.workspace->counters(1);
    if (!scratch || !counter) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(ticket_kernel<T, Op>, {.grid = grid, .block = block, .stream = a.stream}, a.in, a.out, totals,
                  counter, a.n, a.op);
  }
};

}  // namespace upsweep::ladders::reduce
