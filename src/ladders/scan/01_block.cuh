// scan/block: up-sweep and down-sweep in shared memory, by one block.
//
// The textbook's work-efficient scan: n operations up a tree and n down, where the naive scan takes n log n. One block
// scans at most 2048 elements.
//
// Traffic   each element read once (twice when inclusive) and written once.
// Order     left to right over each subtree: operands are regrouped, never swapped.
// Source    Blelloch, Prefix Sums and Their Applications, 1990; Harris, Sengupta, Owens, GPU Gems 3, chapter 39, 2007.
#pragma once
#include "ladders/scan/sweeps.cuh"

namespace upsweep::ladders::scan {

template <class T, class Op>
__global__ void block_kernel(const T* in,  // [n]
                             T* out,       // [n]
                             std::size_t n, bool inclusive, Op op) {
  Sweeps::scan(in, out, n, inclusive, op);
  if (threadIdx.x == 0 && n > 0 && !inclusive) out[0] = value_of_none<Op, T>();
}

struct block {
  static constexpr std::size_t largest = 2048;  // two elements for each of 1024 threads
  static constexpr Story story{.idea = "up-sweep and down-sweep in shared memory, one block",
                               .prediction = "one launch and 2 log2(n) barriers: a few microseconds for any n",
                               .guarantees = "same bits for the same n",
                               .limits = "sum, min, max; n up to twice the block size: 2048",
                               .source = "Blelloch 1990; GPU Gems 3, chapter 39, 2007"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const auto threads = a.tuning.block_or(1024);
    if (Status s = tree_block(threads); !s) return s;
    if (a.n > 2 * threads) return {Code::unsupported, 0, "more elements than one block can scan"};
    return launch(block_kernel<T, Op>,
                  {.grid = 1, .block = threads, .shared_bytes = 2 * threads * sizeof(T), .stream = a.stream}, a.in,
                  a.out, a.n, a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::scan
