// Wrong on purpose: the counter is not reset, so the next call has no last block.
//
// Must be caught: a nonzero counter, and the poison in the output of the second call.
#pragma once
#include "kernel/block.h"
#include "kernel/ptx.h"
#include "ladders/reduce/final_pass.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void ticket_not_reset_kernel(const T* in,        // [n]
                                        T* out,             // [1]
                                        T* totals,          // [gridDim.x]
                                        unsigned* counter,  // [1]
                                        std::size_t n, Op op) {
  __shared__ T warp_totals[warp_size];
  T sum = Op::template neutral<T>();
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum = op(sum, in[i]);
  sum = block_reduce(sum, op, warp_totals);
  if (threadIdx.x != 0) return;
  totals[blockIdx.x] = sum;
  if (take_ticket(counter) != gridDim.x - 1) return;
  sum = totals[0];
  for (unsigned b = 1; b < gridDim.x; ++b) sum = op(sum, totals[b]);
  out[0] = n > 0 ? sum : value_of_none<Op, T>();
}

struct ticket_not_reset {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "a ticket that is not reset",
                               .prediction = "a nonzero counter, and the poison in the output of the second call"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    Scratch scratch(*a.workspace);
    T* const totals = scratch.take<T>(4);
    unsigned* const counter = a.workspace->counters(1);
    if (!scratch || !counter) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(ticket_not_reset_kernel<T, Op>, {.grid = 4, .block = 128, .stream = a.stream}, a.in, a.out, totals,
                  counter, a.n, a.op);
  }
};

}  // namespace upsweep::ladders::reduce
