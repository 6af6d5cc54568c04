// reduce/mailbox: one launch and no fence; every word of a total carries a flag.
//
// ticket ends with three dependent trips to L2: store the total, take the ticket, load the totals. If one word holds
// both data and flag, no fence is needed, and the last block polls the words of all blocks: two trips.
//
// Traffic   as vec16; one 8-byte word per 4 bytes of a block's total.
// Order     fixed by grid, block and the alignment of the input.
// Source    Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016 (packed descriptors).
#pragma once
#include "ladders/reduce/finish.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void __launch_bounds__(1024) mailbox_kernel(const T* in,                 // [n]
                                                       T* out,                      // [1]
                                                       unsigned long long* totals,  // [gridDim.x * words_per<T>], zero
                                                       std::size_t n, Op op) {
  finish(thread_sum<T, 8>(PackSplit<T>(in, n), in, op), op, totals, out, n);
}

struct mailbox {
  static constexpr Story story{
      .idea = "every word of a total carries a flag: no fence, no ticket",
      .prediction = "half a microsecond less than ticket at every size with more than one block",
      .guarantees = "same bits for the same grid, block and alignment",
      .limits = "any n; whole warps",
      .source = "Merrill and Garland, Decoupled Look-back, 2016"};
  static constexpr bool blocks_in_order = true;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const unsigned block = a.tuning.block_or(512);
    const unsigned grid = a.tuning.grid_or(blocks_for<T>(a.n, block, 1, 2));
    if (!whole_warps(block)) return not_whole_warps;
    unsigned long long* const totals = mailboxes<T>(a, grid);
    if (!totals) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(mailbox_kernel<T, Op>, {.grid = grid, .block = block, .stream = a.stream}, a.in, a.out, totals, a.n,
                  a.op);
  }
};

}  // namespace upsweep::ladders::reduce
