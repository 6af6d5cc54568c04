// reduce/shares: each block reads a contiguous share, and the grid has more blocks than are resident.
//
// In a grid-stride loop, all blocks advance through the input together, and the kernel ends only when its slowest
// multiprocessor does; how slow that is differs from one H200 to the next. Here, each block's loads are contiguous, and
// a multiprocessor that finishes a block early gets another.
//
// Traffic   as vec16.
// Order     fixed by grid, block and the alignment of the input: the last block combines the totals in a fixed order.
// Source    Bell and Garland, Thrust, 2011 (contiguous ranges per block); Merrill, CUB, 2013 (more blocks than fit).
#pragma once
#include "ladders/reduce/finish.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void __launch_bounds__(1024, min_blocks(1024, 2))
    shares_kernel(const T* in,                 // [n]
                  T* out,                      // [1]
                  unsigned long long* totals,  // [gridDim.x * words_per<T>], zero
                  std::size_t n, Op op) {
  finish(thread_sum<T, 4, Walk::shares>(PackSplit<T>(in, n), in, op), op, totals, out, n);
}

struct shares {
  static constexpr Story story{.idea = "a contiguous share per block, 16 times as many blocks as are resident",
                               .prediction = "one per cent faster than mailbox from 2^28 on; slower below 2^27",
                               .guarantees = "same bits for the same n, grid and alignment",
                               .limits = "any n; fixed block size",
                               .source = "Bell and Garland, Thrust, 2011; Merrill, CUB, 2013"};
  static constexpr bool blocks_in_order = true;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.tuning.block != 0) return {Code::unsupported, 0, "shares has a fixed block size"};
    // Two resident blocks per multiprocessor: on an H200, the fastest of about 50 shapes at 2^27 to 2^30
    // (docs/notebook/reduce.md).
    const auto grid = a.tuning.grid_or(blocks_for<T>(a.n, 1024, 4, 2 * shares_waves));
    unsigned long long* const totals = mailboxes<T>(a, grid);
    if (!totals) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(shares_kernel<T, Op>, {.grid = grid, .block = 1024, .stream = a.stream}, a.in, a.out, totals, a.n,
                  a.op);
  }
};

}  // namespace upsweep::ladders::reduce
