// reduce/shares: every block reads a share of its own from end to end, and there are more blocks than fit.
//
// In a grid-stride walk the whole grid moves through the input side by side, and ends when its slowest block does; how
// fast that is differs from one H200 to the next. Here a block's loads follow each other in memory, and a
// multiprocessor that is done early gets another block.
//
// Traffic   as vec16.
// Order     fixed by grid, block and the alignment of the input: totals are taken in block order, whoever is first.
// Source    Bell and Garland, Thrust, 2011 (contiguous ranges a block); Merrill, CUB, 2013 (more blocks than fit).
#pragma once
#include "ladders/reduce/finish.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void __launch_bounds__(1024, 2)
    shares_kernel(const T* in,                 // [n]
                  T* out,                      // [1]
                  unsigned long long* totals,  // [gridDim.x * words_per<T>], zero
                  std::size_t n, Op op) {
  finish(thread_sum<4, Walk::shares>(PackSplit<T>(in, n), in, op), op, totals, out);
}

struct shares {
  static constexpr Story story{.idea = "a contiguous share for every block, and 16 times the blocks that fit",
                               .prediction = "a per cent more than mailbox from 2^28 on; behind it below 2^27",
                               .guarantees = "same bits for the same n, grid and alignment",
                               .limits = "any n; fixed block size",
                               .source = "Bell and Garland, Thrust, 2011; Merrill, CUB, 2013"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.tuning.block != 0) return {Code::unsupported, 0, "shares has a fixed block size"};
    // Two blocks fit. Of some 50 shapes on an H200 this is the best at 2^27 to 2^30 (docs/notes/reduce.md).
    const auto grid = a.tuning.grid_or(blocks_for<T>(a.n, 1024, 4, 2 * shares_waves));
    unsigned long long* const totals = mailboxes<T>(a, grid);
    if (!totals) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(shares_kernel<T, Op>, {.grid = grid, .block = 1024, .stream = a.stream}, a.in, a.out, totals, a.n,
                  a.op);
  }
};

}  // namespace upsweep::ladders::reduce
