// scan/merge_totals: the loop of merge_loop, over contiguous totals.
//
// The tiles' totals get a separate array: a sector holds eight totals instead of one, and 8192 totals fill 32 KB
// instead of 256 KB, so they stay in L1. The tiles no longer need a second array, because no block overwrites data that
// others read. The number of additions and loads does not change; the emulator, which has no caches, reports the same
// counts for both rungs.
//
// Traffic   2 reads and 2 writes per element (one more read when inclusive), and on average n / 1024 loads per warp, of
//           contiguous words.
// Order     as merge_loop.
// Source    as merge_loop.
#pragma once
#include "ladders/scan/sweeps.cuh"

namespace upsweep::ladders::scan {

template <class T, class Op>
__global__ void merge_totals_kernel(const T* totals,  // [n / tile, rounded up], of tiles of 2 * blockDim.x elements
                                    T* out,           // [n], each tile scanned by itself
                                    std::size_t n, Op op) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T prefix = Op::template neutral<T>();
  for (unsigned tile = 0; tile < blockIdx.x / 2; ++tile) prefix = op(prefix, totals[tile]);
  out[i] = op(prefix, out[i]);
}

struct merge_totals {
  static constexpr std::size_t largest = largest_merge, largest_emulated = largest_merge_emulated;
  static constexpr Story story{.idea = "contiguous totals: eight per sector instead of one",
                               .prediction =
                                   "up to twice as fast as merge_loop at 2^22, where that rung's totals no longer "
                                   "fit a cache; still quadratic",
                               .guarantees = "same bits for the same n and block",
                               .limits = "sum, min, max; n up to 2^22: the number of additions is quadratic",
                               .source = "before GPU Gems 3, chapter 39.2.4, 2007"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const Tiling<Sweeps> tiling = tiling_of<Sweeps>(a.tuning);
    if (Status s = Sweeps::refusal(tiling.threads); !s) return s;
    if (a.n == 0) return {};
    Scratch scratch(*a.workspace);
    T* const totals = scratch.take<T>(tiling.count(a.n));
    if (!scratch) return no_memory_for_totals;
    if (Status s = launch(tiles_kernel<Sweeps, T, Op>, tiling.shape<T>(a.n, a.stream), a.in, a.out, totals, a.n,
                          a.inclusive, a.op);
        !s)
      return s;
    const auto blocks = static_cast<unsigned>(ceil_div(a.n, tiling.threads));  // one thread per element
    return launch(merge_totals_kernel<T, Op>, {.grid = blocks, .block = tiling.threads, .stream = a.stream}, totals,
                  a.out, a.n, a.op);
  }
};

}  // namespace upsweep::ladders::scan
