// Reads consecutive tiles once, to count their keys.
#pragma once
#include "kernel/multisplit/args.h"
#include "kernel/vector.h"

namespace upsweep::multisplit {

// Block-wide, by `block` threads: for each tile in [first, end), calls count(key) for this thread's keys and then,
// after a barrier, tile_read(tile). tile_read() needs a barrier after its last access to data that count() changes.
template <unsigned tile_keys, unsigned block, class T, class B, class Count, class TileRead>
__device__ __forceinline__ void read_tiles(const BucketedKeys<T, B>& in, unsigned first, unsigned end, Count&& count,
                                           TileRead&& tile_read) {
  // A tile is read in parts of at most six packs per thread. The next part starts to load as soon as this one is
  // counted, so the first part of a tile is in flight during the barrier and tile_read() of the previous tile.
  constexpr unsigned tile_packs = tile_keys / Pack<T>::size, parts = (tile_packs - 1) / (6 * block) + 1;
  constexpr unsigned part_packs = tile_packs / parts, each = (part_packs - 1) / block + 1;
  static_assert(part_packs * parts == tile_packs);
  const unsigned t = threadIdx.x;
  const bool aligned = reinterpret_cast<std::uintptr_t>(in.keys) % 16 == 0;
  const auto is_whole = [&](unsigned tile) { return aligned && (tile + std::size_t(1)) * tile_keys <= in.n; };
  uint4 packs[each];
  const auto load = [&](std::size_t part) {
    const auto* const from = reinterpret_cast<const uint4*>(in.keys) + part * part_packs;
#pragma unroll
    for (unsigned k = 0; k < each; ++k)
      if (k * block + t < part_packs) packs[k] = load_once(from + k * block + t);
  };
  if (is_whole(first)) load(std::size_t(first) * parts);
  for (unsigned tile = first; tile < end; ++tile) {
    if (is_whole(tile)) {
      for (unsigned p = 0; p < parts; ++p) {
#pragma unroll
        for (unsigned k = 0; k < each; ++k) {
          if (k * block + t >= part_packs) break;
          const Pack<T> pack = as_pack<T>(packs[k]);
#pragma unroll
          for (unsigned i = 0; i < Pack<T>::size; ++i) count(pack.item[i]);
        }
        if (p + 1 < parts || (tile + 1 < end && is_whole(tile + 1))) load(std::size_t(tile) * parts + p + 1);
      }
    } else {
      const std::size_t from = std::size_t(tile) * tile_keys, left = in.n - from;
      const unsigned size = left < tile_keys ? static_cast<unsigned>(left) : tile_keys;
      constexpr unsigned at_once = 8;  // loads in flight per thread
      for (unsigned i = t; i < size; i += at_once * block) {
        T some[at_once];
#pragma unroll
        for (unsigned j = 0; j < at_once; ++j)
          if (i + j * block < size) some[j] = in.keys[from + i + j * block];
#pragma unroll
        for (unsigned j = 0; j < at_once; ++j)
          if (i + j * block < size) count(some[j]);
      }
    }
    __syncthreads();
    tile_read(tile);
  }
}

}  // namespace upsweep::multisplit
