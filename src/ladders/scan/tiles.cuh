// An array scanned tile by tile: what the rungs share that differ only in how a block scans its tile.
//
// Such a way is a struct:
//   per_thread                                      a tile is per_thread * blockDim.x elements
//   block                                           threads, unless the caller says otherwise
//   refusal(threads)                                ok, or why it cannot work with so many
//   shared_bytes<T>(threads)                        of dynamic shared memory
//   scan(in, out, n, inclusive, op)                 one tile, by all threads of a block, from in[0..n) to out[0..n);
//                                                   n is at most a tile; returns its total, to thread 0 at least
#pragma once
#include "kernel/kernel.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {

template <class Tile, class T, class Op>
__global__ void tiles_kernel(const T* in,  // [n]
                             T* out,       // [n], each tile scanned for itself
                             T* totals,    // [gridDim.x], or null
                             std::size_t n, bool inclusive, Op op) {
  const std::size_t tile = std::size_t(Tile::per_thread) * blockDim.x, begin = blockIdx.x * tile;
  const std::size_t left = n - begin;
  const T total = Tile::scan(in + begin, out + begin, left < tile ? left : tile, inclusive, op);
  if (totals && threadIdx.x == 0) totals[blockIdx.x] = total;
}

template <class Tile, class T, class Op>
__global__ void uniform_add_kernel(const T* before,  // [gridDim.x], what is left of each tile
                                   T* out,           // [n]
                                   std::size_t n, Op op) {
  const std::size_t begin = blockIdx.x * std::size_t(Tile::per_thread) * blockDim.x;
  const T prefix = before[blockIdx.x];
  for (unsigned k = 0; k < Tile::per_thread; ++k)
    if (const std::size_t i = begin + k * blockDim.x + threadIdx.x; i < n) out[i] = op(prefix, out[i]);
}

// How an array of n elements falls into tiles.
template <class Tile>
struct Tiling {
  unsigned threads;  // a block

  std::size_t elements() const { return std::size_t(Tile::per_thread) * threads; }  // of a tile
  std::size_t count(std::size_t n) const { return ceil_div(n, elements()); }
  // One block a tile.
  template <class T>
  Shape shape(std::size_t n, Stream stream) const {
    return {.grid = static_cast<unsigned>(count(n)),
            .block = threads,
            .shared_bytes = Tile::template shared_bytes<T>(threads),
            .stream = stream};
  }
};

// The tiling that the caller asks for, or the way's own.
template <class Tile>
Tiling<Tile> tiling_of(const Tuning& tuning) {
  return {tuning.block_or(Tile::block)};
}

}  // namespace upsweep::ladders::scan
