// reduce/overlap: starts before the previous kernel in the stream has ended.
//
// At medium n, the overhead of mailbox is one launch and a cold start: blocks are scheduled, and the first loads take
// 0.7 us. Both can overlap with the end of the previous kernel. This kernel is launched with programmatic stream
// serialization and prefetches its first loads into L2 before it waits for the previous kernel; the next kernel may
// start just as early. The launch shape depends on n.
//
// Traffic   as vec16.
// Order     fixed by n, grid and the alignment of the input.
// Source    NVIDIA CUDA Programming Guide, Programmatic Dependent Launch, 2022.
#pragma once
#include "ladders/reduce/finish.cuh"

namespace upsweep::ladders::reduce {

template <unsigned Block, unsigned InFlight, Walk walk, unsigned RowsAhead, class T, class Op, class Out>
__global__ void __launch_bounds__(Block, min_blocks(Block, resident_threads<InFlight> / Block))
    overlap_kernel(const T* in,                 // [n]
                   Out* out,                    // [1]
                   unsigned long long* totals,  // [gridDim.x * words_per<Accumulator<Out>>], zero
                   std::size_t n, Op op, Initial<Out, Op> initial) {
  // 1. While the previous kernel ends, allow the next launch and prefetch this block's first rows of blockDim.x packs.
  allow_next_launch();
  const PackSplit<T> split(in, n);
  prefetch_rows<RowsAhead>(split, steps_of_thread<walk>(split.packs));
  wait_for_previous();

  // 2. Reduce as mailbox does.
  finish(thread_sum<Accumulator<Out>, InFlight, walk>(split, in, op), op, totals, out, n, initial);
}

struct overlap {
  static constexpr Story story{
      .idea = "launched while the previous kernel ends; meanwhile prefetches its first loads into L2",
      .prediction = "a microsecond less than mailbox in a stream of kernels; alone, a tie",
      .guarantees = "same bits for the same n, grid and alignment",
      .limits = "any n; fixed block size",
      .source = "CUDA Programming Guide, Programmatic Dependent Launch, 2022"};
  static constexpr bool blocks_in_order = true;
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    if (a.tuning.block != 0) return {Code::unsupported, 0, "overlap chooses its own block size"};
    // Chosen from about 60 shapes on an H200; each is within 2 % of the fastest (docs/notebook/reduce.md).
    const std::size_t bytes = a.n * sizeof(T);
    // One block with two loads in flight per thread: more blocks would add the mailbox's 0.3 us, and with fewer
    // threads, each would add more elements serially.
    if (bytes <= 16 * 1024) return start<512, 2>(a, 1);
    if (bytes <= 64 * 1024) return start<1024, 2>(a, 1);
    // Many small blocks with two loads per thread start soonest. An 8-byte total takes two mailbox words, so fewer,
    // larger blocks are faster.
    if (sizeof(Out) == 8 && bytes <= 8 * 1024 * 1024) return start<512, 2>(a, blocks_for<T>(a.n, 512, 2, 4));
    if (bytes <= 2 * 1024 * 1024) return start<256, 4>(a, blocks_for<T>(a.n, 256, 2, 4));
    // One block per multiprocessor, eight loads in flight per thread: few blocks to start and few totals to collect,
    // but enough bytes in flight.
    if (bytes <= 32 * 1024 * 1024) return start<512, 8>(a, blocks_for<T>(a.n, 512, 1, 1));
    // A full grid of resident blocks, once the last per cent of bandwidth matters. Above 64 MB, each block reads a
    // contiguous share, which gains 0.4 % at 2^26 elements.
    const unsigned all = blocks_for<T>(a.n, 512, 1, 2);
    if (bytes <= 64 * 1024 * 1024) return start<512, 8>(a, all);
    // The shape of the rung `shares`, once start-up is negligible. Two cases keep the shape above: 8-byte totals, which
    // do not fit in the 32 registers per thread of `shares`; and devices with fewer than 2048 resident threads per
    // multiprocessor, where only one block of 1024 would be resident and nothing would be loaded while that block ends.
    if (bytes < shares_pay_from || sizeof(Out) == 8 || machine().bounded_threads() < 2048)
      return start<512, 8, Walk::shares>(a, all);
    return start<1024, 4, Walk::shares, 0>(a, blocks_for<T>(a.n, 1024, 4, 2 * shares_waves));
  }

 private:
  // RowsAhead: rows of blockDim.x packs, one load per thread each, that a block prefetches into L2. On an H200:
  //   2    within 1 % of the fastest; without prefetches, 2^10 to 2^26 words take 0.1 to 1.2 us longer.
  //   16   all loads of a thread: 1.3 us slower at 2^22 words, because the loads follow before the lines arrive.
  //   0    for a grid of several waves: between other kernels, 2^28 words take 233 us, with prefetches 241; in a stream
  //        of reductions, 232 and 231.
  template <unsigned Block, unsigned InFlight, Walk walk = Walk::grid_stride, unsigned RowsAhead = 2, class T, class Op,
            class Out>
  static Status start(const Args<T, Op, Out>& a, unsigned grid) {
    grid = a.tuning.grid_or(grid);
    unsigned long long* const totals = mailboxes<Accumulator<Out>>(a, grid);
    if (!totals) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(overlap_kernel<Block, InFlight, walk, RowsAhead, T, Op, Out>,
                  {.grid = grid, .block = Block, .overlap = true, .stream = a.stream}, a.in, a.out, totals, a.n, a.op,
                  a.initial);
  }
};

}  // namespace upsweep::ladders::reduce
