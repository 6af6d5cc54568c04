// reduce/overlap: starts before the previous kernel in the stream has ended.
//
// With mailbox, the overhead of a medium-sized reduction is one launch and a cold start: blocks are placed, and the
// first loads take 0.7 us to arrive. Both can overlap the end of the previous kernel. This kernel is launched with
// programmatic stream serialization, prefetches its first loads into L2 and only then waits; it lets the next kernel
// start as early. The shape depends on n.
//
// Traffic   as vec16.
// Order     fixed by n, grid and the alignment of the input.
// Source    NVIDIA CUDA Programming Guide, Programmatic Dependent Launch, 2022.
#pragma once
#include "ladders/reduce/finish.cuh"

namespace upsweep::ladders::reduce {

// Resident threads per multiprocessor of an H200: the maximum, or half of it, with up to 64 registers for more loads
// per thread.
template <unsigned InFlight>
inline constexpr unsigned resident_threads = InFlight > 4 ? 1024 : 2048;

template <unsigned Block, unsigned InFlight, Walk walk, unsigned RowsAhead, class T, class Op>
__global__ void __launch_bounds__(Block, min_blocks(Block, resident_threads<InFlight> / Block))
    overlap_kernel(const T* in,                 // [n]
                   T* out,                      // [1]
                   unsigned long long* totals,  // [gridDim.x * words_per<T>], zero
                   std::size_t n, Op op) {
  // 1. While the previous kernel ends: allow the next launch; prefetch this block's first rows of blockDim.x packs.
  allow_next_launch();
  const PackSplit<T> split(in, n);
  const auto [first, end, step] = steps_of_thread<walk>(split.packs);
  const std::size_t row = first - threadIdx.x + threadIdx.x * step;  // thread t prefetches the block's row t
  if (RowsAhead > 0 && threadIdx.x < RowsAhead && row < end) {
    const std::size_t left = end - row;
    prefetch_l2(split.aligned + row * Pack<T>::size, 16 * unsigned(left < blockDim.x ? left : blockDim.x));
  }
  wait_for_previous();

  // 2. As mailbox.
  finish(thread_sum<InFlight, walk>(split, in, op), op, totals, out, n);
}

struct overlap {
  static constexpr Story story{
      .idea = "launched while the previous kernel ends; meanwhile prefetches its first loads into L2",
      .prediction = "a microsecond less than mailbox in a stream of kernels; alone, a tie",
      .guarantees = "same bits for the same n, grid and alignment",
      .limits = "any n; fixed block size",
      .source = "CUDA Programming Guide, Programmatic Dependent Launch, 2022"};
  static constexpr bool blocks_in_order = true;
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.tuning.block != 0) return {Code::unsupported, 0, "overlap chooses its own block size"};
    // Chosen among some 60 shapes on an H200; each is the best or within 2 % of it (docs/notes/reduce.md).
    const std::size_t bytes = a.n * sizeof(T);
    // One block as long as two loads per thread cover the input: more blocks would only add the mailbox's 0.3 us, and
    // fewer threads with more loads each would add them one after another.
    if (bytes <= 16 * 1024) return start<512, 2>(a, 1);
    if (bytes <= 64 * 1024) return start<1024, 2>(a, 1);
    // Many blocks with two loads per thread start soonest. 8-byte totals take two words each: fewer blocks win.
    if (sizeof(T) == 8 && bytes <= 8 * 1024 * 1024) return start<512, 2>(a, blocks_for<T>(a.n, 512, 2, 4));
    if (bytes <= 2 * 1024 * 1024) return start<256, 4>(a, blocks_for<T>(a.n, 256, 2, 4));
    // One block per multiprocessor, eight loads per thread: few blocks to start and collect, enough loads in flight.
    if (bytes <= 32 * 1024 * 1024) return start<512, 8>(a, blocks_for<T>(a.n, 512, 1, 1));
    // As many blocks as are resident, once the last per cent of bandwidth matters; shares gain 0.4 % at 2^26.
    const unsigned all = blocks_for<T>(a.n, 512, 1, 2);
    if (bytes <= 64 * 1024 * 1024) return start<512, 8>(a, all);
    if (bytes < shares_pay_from || sizeof(T) == 8) return start<512, 8, Walk::shares>(a, all);
    // The shape of `shares`, once a start no longer shows; 8-byte elements do not fit its 32 registers per thread.
    return start<1024, 4, Walk::shares, 0>(a, blocks_for<T>(a.n, 1024, 4, 2 * shares_waves));
  }

 private:
  // RowsAhead: loads per thread that are prefetched into L2. On an H200, without them 2^10 to 2^26 words take 0.1 to
  // 1.2 us more; 2 is the best or within 1 % of it; all 16 of a thread cost 1.3 us at 2^22, because the loads follow
  // too closely. A grid of several waves does without: between other kernels, 2^28 words took 241 us with them and 233
  // without; in a stream of reductions 231 and 232.
  template <unsigned Block, unsigned InFlight, Walk walk = Walk::grid_stride, unsigned RowsAhead = 2, class T, class Op>
  static Status start(const Args<T, Op>& a, unsigned grid) {
    grid = a.tuning.grid_or(grid);
    unsigned long long* const totals = mailboxes<T>(a, grid);
    if (!totals) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(overlap_kernel<Block, InFlight, walk, RowsAhead, T, Op>,
                  {.grid = grid, .block = Block, .overlap = true, .stream = a.stream}, a.in, a.out, totals, a.n, a.op);
  }
};

}  // namespace upsweep::ladders::reduce
