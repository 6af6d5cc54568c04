// Tile-by-tile scans, for the rungs that differ only in how a block scans its tile.
//
// A tile scan is a struct:
//   per_thread                                      a tile is per_thread * blockDim.x elements
//   block                                           default threads per block
//   refusal(threads)                                ok, or why it does not support this block size
//   shared_bytes<T>(threads)                        dynamic shared memory per block
//   scan(in, out, n, inclusive, op)                 block-wide: scans one tile from in[0..n) to out[0..n), n at most a
//                                                   tile, and returns its total, at least to thread 0
#pragma once
#include "kernel/kernel.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {

template <class Tile, class T, class Op>
__global__ void tiles_kernel(const T* in,  // [n]
                             T* out,       // [n], each tile scanned by itself
                             T* totals,    // [gridDim.x], or null
                             std::size_t n, bool inclusive, Op op) {
  const std::size_t tile = std::size_t(Tile::per_thread) * blockDim.x, begin = blockIdx.x * tile;
  const std::size_t left = n - begin;
  const T total = Tile::scan(in + begin, out + begin, left < tile ? left : tile, inclusive, op);
  if (threadIdx.x != 0) return;
  if (begin == 0 && !inclusive) out[0] = value_of_none<Op, T>();
  if (totals) totals[blockIdx.x] = total;
}

// Adds each tile's prefix to the tile's elements. Skips the first tile, whose prefix is empty.
template <class Tile, class T, class Op>
__global__ void uniform_add_kernel(const T* before,  // [gridDim.x], each tile's prefix
                                   T* out,           // [n]
                                   std::size_t n, Op op) {
  if (blockIdx.x == 0) return;
  const std::size_t begin = blockIdx.x * std::size_t(Tile::per_thread) * blockDim.x;
  const T prefix = before[blockIdx.x];
  for (unsigned k = 0; k < Tile::per_thread; ++k)
    if (const std::size_t i = begin + k * blockDim.x + threadIdx.x; i < n) out[i] = op(prefix, out[i]);
}

// The division of an array into tiles.
template <class Tile>
struct Tiling {
  unsigned threads;  // per block

  std::size_t elements() const { return std::size_t(Tile::per_thread) * threads; }  // per tile
  std::size_t count(std::size_t n) const { return ceil_div(n, elements()); }
  // Returns the launch shape for n elements: one block per tile.
  template <class T>
  Shape shape(std::size_t n, Stream stream) const {
    return {.grid = static_cast<unsigned>(count(n)),
            .block = threads,
            .shared_bytes = Tile::template shared_bytes<T>(threads),
            .stream = stream};
  }
};

// Returns the tiling for the caller's block size or, by default, the tile scan's.
template <class Tile>
Tiling<Tile> tiling_of(const Tuning& tuning) {
  return {tuning.block_or(Tile::block)};
}

}  // namespace upsweep::ladders::scan
