// reduce/overlap: starts before the kernel ahead of it in the stream has ended.
//
// What is left of a middle-sized reduction after mailbox is a launch and a cold start: blocks are placed, the first
// loads take 0.7 us to arrive. Both can happen while the previous kernel's last block still works: this one is launched
// with programmatic stream serialization, asks L2 for its first round of loads, and waits only then. In its turn it
// lets the next one in when its own loads are done. The shape follows n: few loads a thread when there is little to
// read.
//
// Traffic   as vec16.
// Order     fixed by n, grid and the alignment of the input.
// Source    NVIDIA CUDA Programming Guide, Programmatic Dependent Launch, 2022.
#pragma once
#include "reduce/finish.cuh"

namespace upsweep::reduce {

// Worth it where a round is small: with 16 loads a thread the first round is up to 17 MB, and asking for it twice
// cost 1.3 us at 2^22.
template <unsigned InFlight>
inline constexpr bool prefetches = InFlight <= 8;

template <unsigned InFlight, class T, class Op>
__global__ void __launch_bounds__(512) overlap_kernel(const T* in,                // [n]
                                                      T* out,                     // [1]
                                                      unsigned long long* boxes,  // [gridDim.x * boxes_per<T>], zero
                                                      std::size_t n, Op op) {
  const PackSplit<T> split(in, n);

  // 1. While the previous kernel ends: this block's first round, one thread a row of blockDim.x packs.
  const std::size_t row = std::size_t(blockIdx.x) * blockDim.x + std::size_t(threadIdx.x) * gridDim.x * blockDim.x;
  if (prefetches<InFlight> && threadIdx.x < InFlight && row < split.packs) {
    const std::size_t left = split.packs - row;
    prefetch_l2(split.aligned + row * Pack<T>::size, 16 * unsigned(left < blockDim.x ? left : blockDim.x));
  }
  wait_for_previous();

  // 2. As mailbox.
  const T sum = thread_sum<InFlight>(split, in, op);
  allow_next_launch();
  finish(sum, op, boxes, out);
}

struct overlap {
  static constexpr Story story{
      .idea = "launched while the previous kernel ends; L2 is asked for the first loads meanwhile",
      .prediction = "half a microsecond less than mailbox in a stream of kernels; alone, a tie",
      .guarantees = "same bits for the same n, grid and alignment",
      .limits = "any n; fixed block size",
      .source = "CUDA Programming Guide, Programmatic Dependent Launch, 2022"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.params.get("block", 0) != 0) return {Code::unsupported, 0, "overlap chooses its own block size"};
    // Measured on an H200, f32 and i32, CUDA-graph replays (docs/notes/reduce.md):
    const std::size_t bytes = a.n * sizeof(T);
    // one block while 512 threads can have it all in flight: more blocks would only add the mailbox's 0.3 us;
    if (bytes <= 32 * 1024) return start<8>(a, 512, 1);
    // then many small blocks, two loads a thread: the ramp is what counts;
    if (bytes <= 2 * 1024 * 1024) return start<4>(a, 256, blocks_for<T>(a.n, 256, 2, 4));
    // then few threads with 16 loads each: fewer blocks to start and to collect.
    return start<16>(a, 256, blocks_for<T>(a.n, 256, 2, 2));
  }

 private:
  template <unsigned InFlight, class T, class Op>
  static Status start(const Args<T, Op>& a, unsigned block, unsigned grid) {
    grid = static_cast<unsigned>(a.params.get("grid", grid));
    unsigned long long* const boxes = boxes_of<T>(a, grid);
    if (!boxes) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(overlap_kernel<InFlight, T, Op>, {.grid = grid, .block = block, .overlap = true, .stream = a.stream},
                  a.in, a.out, boxes, a.n, a.op);
  }
};

}  // namespace upsweep::reduce
