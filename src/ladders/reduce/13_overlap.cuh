// reduce/overlap: starts before the kernel ahead of it in the stream has ended.
//
// What is left of a middle-sized reduction after mailbox is a launch and a cold start: blocks are placed, and the first
// loads take 0.7 us to arrive. Both can happen while the previous kernel ends: this one is launched with programmatic
// stream serialization, asks L2 for its first loads, and waits only then; and it lets the next one in as early. The
// shape follows n.
//
// Traffic   as vec16.
// Order     fixed by n, grid and the alignment of the input.
// Source    NVIDIA CUDA Programming Guide, Programmatic Dependent Launch, 2022.
#pragma once
#include "ladders/reduce/finish.cuh"

namespace upsweep::ladders::reduce {

// Loads of every thread that L2 is asked for ahead of time. Measured: 0 is 0.3 us slower at every size, 2 is the best
// or within 1 % of it; all 16 of a thread cost 1.3 us at 2^22, because the loads follow too closely.
inline constexpr unsigned rows_ahead = 2;

// Threads that a multiprocessor holds: all that it can, or half as many with up to 64 registers for more loads each.
template <unsigned InFlight>
inline constexpr unsigned resident_threads = InFlight > 4 ? 1024 : 2048;

template <unsigned Block, unsigned InFlight, Walk walk, class T, class Op>
__global__ void __launch_bounds__(Block, resident_threads<InFlight> / Block)
    overlap_kernel(const T* in,                 // [n]
                   T* out,                      // [1]
                   unsigned long long* totals,  // [gridDim.x * words_per<T>], zero
                   std::size_t n, Op op) {
  // 1. While the previous kernel ends: the next may come, and this block's first rows of blockDim.x packs with it.
  allow_next_launch();
  const PackSplit<T> split(in, n);
  const auto [first, end, step] = steps_of_thread<walk>(split.packs);
  const std::size_t row = first - threadIdx.x + threadIdx.x * step;  // thread t asks for the block's row t
  if (threadIdx.x < rows_ahead && row < end) {
    const std::size_t left = end - row;
    prefetch_l2(split.aligned + row * Pack<T>::size, 16 * unsigned(left < blockDim.x ? left : blockDim.x));
  }
  wait_for_previous();

  // 2. As mailbox.
  finish(thread_sum<InFlight, walk>(split, in, op), op, totals, out);
}

struct overlap {
  static constexpr Story story{
      .idea = "launched while the previous kernel ends; L2 is asked for the first loads meanwhile",
      .prediction = "a microsecond less than mailbox in a stream of kernels; alone, a tie",
      .guarantees = "same bits for the same n, grid and alignment",
      .limits = "any n; fixed block size",
      .source = "CUDA Programming Guide, Programmatic Dependent Launch, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.tuning.block != 0) return {Code::unsupported, 0, "overlap chooses its own block size"};
    // Chosen among some 60 shapes on an H200; each is the best or within 2 % of it (docs/notes/reduce.md).
    const std::size_t bytes = a.n * sizeof(T);
    // One block while two loads a thread are all there is: more blocks would only add the mailbox's 0.3 us, and fewer
    // threads with more loads would add them up one after another.
    if (bytes <= 16 * 1024) return start<512, 2>(a, 1);
    if (bytes <= 64 * 1024) return start<1024, 2>(a, 1);
    // Many blocks, two loads a thread: they start soonest. Of 8-byte totals, which take two words each, rather fewer;
    if (sizeof(T) == 8 && bytes <= 8 * 1024 * 1024) return start<512, 2>(a, blocks_for<T>(a.n, 512, 2, 4));
    if (bytes <= 2 * 1024 * 1024) return start<256, 4>(a, blocks_for<T>(a.n, 256, 2, 4));
    // one block a multiprocessor, eight loads a thread: few to start and to collect, and enough in flight;
    if (bytes <= 32 * 1024 * 1024) return start<512, 8>(a, blocks_for<T>(a.n, 512, 1, 1));
    // all that fit where it runs long enough to need the last per cents of bandwidth; shares are 0.4 % there at 2^26;
    const unsigned all = blocks_for<T>(a.n, 512, 1, 2);
    if (bytes <= 64 * 1024 * 1024) return start<512, 8>(a, all);
    if (bytes < shares_pay_from || sizeof(T) == 8) return start<512, 8, Walk::shares>(a, all);
    // and where a start no longer shows, as shares; 8-byte elements do not fit into its 32 registers a thread.
    return start<1024, 4, Walk::shares>(a, blocks_for<T>(a.n, 1024, 4, 2 * shares_waves));
  }

 private:
  template <unsigned Block, unsigned InFlight, Walk walk = Walk::grid_stride, class T, class Op>
  static Status start(const Args<T, Op>& a, unsigned grid) {
    grid = a.tuning.grid_or(grid);
    unsigned long long* const totals = mailboxes<T>(a, grid);
    if (!totals) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(overlap_kernel<Block, InFlight, walk, T, Op>,
                  {.grid = grid, .block = Block, .overlap = true, .stream = a.stream}, a.in, a.out, totals, a.n, a.op);
  }
};

}  // namespace upsweep::ladders::reduce
