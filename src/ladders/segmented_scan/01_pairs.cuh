// segmented_scan/pairs: a scan of pairs, each a value and a head flag.
//
// The textbook method: the operator on pairs (Joined) is associative too, so any scan algorithm works. This one is
// scan/reduce_then_scan with one element per thread: one launch reduces each range to a total, one scans the totals,
// and one scans each range from its prefix. A launch before these three computes the head bits (heads.cuh).
//
// Traffic   heads once; 2 reads and 1 write per element; one bit per element, written once and read twice.
// Order     left to right: lanes, warps, tiles, ranges.
// Source    Blelloch, Prefix Sums and Their Applications, 1990; Sengupta, Harris, Zhang, Owens, Scan Primitives for GPU
//           Computing, 2007.
#pragma once
#include "kernel/block.h"
#include "ladders/segmented_scan/heads.cuh"
#include "ladders/segmented_scan/run.h"

namespace upsweep::ladders::segmented_scan {

// Calls tile(i, run) for this thread's element i in every tile of the block's range.
template <class T, class Op, class Tile>
__device__ __forceinline__ void for_each_tile(const T* in, HeadBits heads, std::size_t n, std::size_t tiles,
                                              Joined<Op> join, Tile&& tile) {
  for (std::size_t k = 0; k < tiles; ++k) {
    const std::size_t i = (blockIdx.x * tiles + k) * blockDim.x + threadIdx.x;
    tile(i, i < n ? Run<T>{in[i], heads.at(i) != 0} : join.template neutral<Run<T>>());
  }
}

template <class T, class Op>
__global__ void __launch_bounds__(1024) pairs_totals_kernel(const T* in,  // [n]
                                                            HeadBits heads,
                                                            Run<T>* totals,                    // [gridDim.x]
                                                            std::size_t n, std::size_t tiles,  // per range
                                                            Op op) {
  __shared__ Run<T> warp_totals[warp_size];
  const Joined<Op> join{op};
  Run<T> total = join.template neutral<Run<T>>();  // valid in thread 0
  for_each_tile(in, heads, n, tiles, join, [&](std::size_t, Run<T> own) {
    total = join(total, block_reduce(own, join, warp_totals));
    __syncthreads();  // warp_totals has been read
  });
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// Replaces each range's total with the range's exclusive prefix. Launched with a single block.
template <class T, class Op>
__global__ void __launch_bounds__(1024) pairs_ranges_kernel(Run<T>* totals,  // [ranges], at most blockDim.x
                                                            unsigned ranges, Op op) {
  __shared__ Run<T> warp_totals[warp_size];
  const Joined<Op> join{op};
  const unsigned t = threadIdx.x;
  Run<T> total;
  const Run<T> own = t < ranges ? totals[t] : join.template neutral<Run<T>>();
  const Run<T> before = block_scan(own, join, warp_totals, total);
  if (t < ranges) totals[t] = before;
}

template <class T, class Op>
__global__ void __launch_bounds__(1024) pairs_scan_kernel(const T* in,  // [n]
                                                          HeadBits heads,
                                                          T* out,                            // [n]
                                                          const Run<T>* before,              // [gridDim.x]
                                                          std::size_t n, std::size_t tiles,  // per range
                                                          bool inclusive, Op op) {
  __shared__ Run<T> warp_totals[2][warp_size];  // double-buffered: one barrier per tile
  const Joined<Op> join{op};
  Run<T> left = before[blockIdx.x];
  unsigned iteration = 0;
  for_each_tile(in, heads, n, tiles, join, [&](std::size_t i, Run<T> own) {
    Run<T> total;
    const Run<T> upto = join(left, block_scan(own, join, warp_totals[iteration++ % 2], total));
    if (i < n) out[i] = inclusive ? join(upto, own).value : own.head ? value_of_none<Op, T>() : upto.value;
    left = join(left, total);
  });
}

struct pairs {
  static constexpr Story story{.idea = "reduce-then-scan of pairs: a value and a head flag",
                               .prediction =
                                   "a quarter of the copy ceiling, like scan/warp_shuffle: 4 bytes per lane, "
                                   "and twice the shuffles",
                               .guarantees = "same bits for the same n, grid and block",
                               .limits = "any n; whole warps",
                               .source = "Blelloch 1990; Sengupta et al., 2007"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const auto threads = a.tuning.block_or(512);
    if (!whole_warps(threads)) return not_whole_warps;
    if (a.n == 0) return {};
    // One range per resident block, but no more ranges than one block can scan.
    const auto resident = static_cast<std::size_t>(machine().multiprocessors) *
                          static_cast<std::size_t>(machine().threads_per_multiprocessor) / threads;
    const std::size_t tiles = ceil_div(a.n, threads), most = resident < 1024 ? resident : 1024;
    const std::size_t range = ceil_div(tiles, most);
    const auto ranges = static_cast<unsigned>(ceil_div(tiles, range));
    Scratch scratch(*a.workspace);
    auto* const bits = scratch.take<unsigned>(head_words(0, a.n));
    auto* const totals = scratch.take<Run<T>>(ranges);
    if (!scratch) return no_memory_for_heads;
    const HeadBits heads{bits};
    const Shape shape{.grid = ranges, .block = threads, .stream = a.stream};
    if (Status s = make_head_bits(a.heads, bits, 0, a.n, a.stream); !s) return s;
    if (Status s = launch(pairs_totals_kernel<T, Op>, shape, a.in, heads, totals, a.n, range, a.op); !s) return s;
    if (Status s = launch(pairs_ranges_kernel<T, Op>, {.block = 1024, .stream = a.stream}, totals, ranges, a.op); !s)
      return s;
    return launch(pairs_scan_kernel<T, Op>, shape, a.in, heads, a.out, totals, a.n, range, a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::segmented_scan
