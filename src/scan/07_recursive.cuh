// scan/recursive: tiles in shared memory, their totals scanned by the same kernels, then a uniform add.
//
// The totals of n / 512 tiles are an array like any other: scan it the same way, until it fits one tile. Then every
// tile adds what is left of it. Three launches up to 2^18 elements, five up to 2^27, and all accesses coalesced.
//
// Traffic   2 reads and 2 writes an element (one read more when inclusive), and 1/512 of that for the totals.
// Order     as block, tile by tile.
// Source    Harris, Sengupta, Owens, GPU Gems 3, chapter 39.2.4, 2007.
#pragma once
#include "scan/sweeps.cuh"

namespace upsweep::ladders::scan {

template <class T, class Op>
__global__ void tiles_kernel(const T* in,  // [n]
                             T* out,       // [n]
                             T* totals,    // [gridDim.x]
                             std::size_t n, bool inclusive, Op op) {
  const std::size_t tile = 2 * std::size_t(blockDim.x), begin = blockIdx.x * tile;
  const std::size_t left = n - begin;
  const T total = scan_tile(in + begin, out + begin, left < tile ? left : tile, inclusive, dynamic_shared<T>(), op);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

template <class T, class Op>
__global__ void uniform_add_kernel(const T* before,  // [gridDim.x], what is left of each tile
                                   T* out,           // [n]
                                   std::size_t n, Op op) {
  const std::size_t begin = blockIdx.x * 2 * std::size_t(blockDim.x);
  const T prefix = before[blockIdx.x];
  for (const std::size_t i : {begin + threadIdx.x, begin + threadIdx.x + blockDim.x})
    if (i < n) out[i] = op(prefix, out[i]);
}

struct recursive {
  static constexpr Story story{.idea = "tiles in shared memory; their totals by the same kernels; a uniform add",
                               .prediction = "half of the copy ceiling less the sweeps' bank conflicts and barriers",
                               .guarantees = "same bits for the same n and block",
                               .limits = "any n",
                               .source = "GPU Gems 3, chapter 39.2.4, 2007"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const auto threads = static_cast<unsigned>(a.params.get("block", default_block));
    if (!is_tree_block(threads)) return not_a_tree;
    std::size_t count = 0;  // totals of all levels
    for (std::size_t n = a.n; n > 2 * threads;) count += n = ceil_div(n, 2 * threads);
    T* const totals = static_cast<T*>(a.workspace->scratch((count + 1) * sizeof(T)));
    if (!totals) return {Code::out_of_memory, 0, "no memory for the tiles' totals"};
    return level(a.in, a.out, a.n, a.inclusive, totals, threads, a.op, a.stream);
  }

 private:
  // out[0..n) = the scan of in[0..n); `totals` has room for this level's totals and those below.
  template <class T, class Op>
  static Status level(const T* in, T* out, std::size_t n, bool inclusive, T* totals, unsigned threads, Op op,
                      Stream stream) {
    if (n == 0) return {};
    const std::size_t tiles = ceil_div(n, 2 * threads);
    const Shape shape{.grid = static_cast<unsigned>(tiles),
                      .block = threads,
                      .shared_bytes = 2 * threads * sizeof(T),
                      .stream = stream};
    if (Status s = launch(tiles_kernel<T, Op>, shape, in, out, totals, n, inclusive, op); !s || tiles == 1) return s;
    if (Status s = level<T, Op>(totals, totals, tiles, false, totals + tiles, threads, op, stream); !s) return s;
    return launch(uniform_add_kernel<T, Op>, shape, totals, out, n, op);
  }
};

}  // namespace upsweep::ladders::scan
