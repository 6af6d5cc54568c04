// The partition of a tile of select/pipeline among warps, and of a block's shared memory among tiles.
#pragma once
#include "kernel/warp_pipeline.h"
#include "ladders/select/packs.cuh"

namespace upsweep::ladders::select {

// The shape of a block's tiles. A tile has `rows` rows of packs of keys for each of `parts` warps. Shared memory holds
// the keys of `stages` tiles and the bits of `held` tiles; each of `groups` groups of `parts` warps gathers one tile at
// a time.
struct TileShape {
  unsigned rows, parts, groups, stages, held = 8;
};

// Returns the shape, chosen from about 60 on an H200 (docs/notebook/select.md) for i32 and i8 at 2^28 with 0.1 % to
// 100 % selected:
//   - large tiles, and so few of them, because reading counts slows down all blocks;
//   - as many stages as fit in shared memory;
//   - two groups, or four for bytes if only values are written.
// Tiles of other types have as many bytes as those of i32, or as many as fit.
template <class T, class O>
constexpr TileShape tile_shape() {
  constexpr unsigned size = sizeof(T);
  if (writes_positions<O>) return {size == 1 ? 8 : size == 2 ? 12 : 16, 4, 2, 5};
  if (writes_lengths<O>) return {size <= 2 ? 8 : 10, 4, 2, size == 1 ? 5 : 7};
  if (size == 1) return {8, 4, 4, reads_flags<O> ? 6 : 8};
  if (reads_flags<O>) return {8 / size, 8, 2, 4};
  return {10, 4, 2, 8};
}

template <class T, class O>
struct SelectShape {
  using K = Key<T, O>;
  static constexpr TileShape tile = tile_shape<T, O>();
  static constexpr unsigned rows = tile.rows, parts = tile.parts, groups = tile.groups;
  static constexpr unsigned stages = tile.stages, held = tile.held;
  static constexpr unsigned threads = (3 + parts + parts * groups) * warp_size;

  static constexpr unsigned size = Pack<K>::size;               // keys per pack
  static constexpr unsigned out = Pack<T>::size;                // elements per pack
  static constexpr unsigned of_warp = rows * warp_size * size;  // keys
  static constexpr unsigned elements = parts * of_warp;         // keys per tile
  static constexpr unsigned rows_out = of_warp / (warp_size * out);
  static constexpr unsigned halo = sees_neighbour<O> ? size : 0;  // keys before the tile

  // A tile's record outlives its keys and bits: a group that has loaded those still reads the records of every step
  // since its previous tile.
  static constexpr unsigned records = 32;
  static_assert(records >= stages + held + 2 * groups);
  // A warp may wait for a phase of a barrier only if it saw the previous one, because parity distinguishes only two
  // phases.
  static_assert(held % groups == 0);

  using Pipeline =
      WarpPipeline<PipelineShape{.stages = stages, .consumers = parts, .ends = groups, .records = records}>;

  // Shared memory: the ring of keys; their bits; the compaction buffer of each gathering warp.
  // Keys have the same offset from a 128-byte boundary in the ring as in global memory; otherwise each line of the ring
  // would straddle two lines of memory, and bulk copies would make twice the requests.
  static constexpr unsigned before_slot = halo ? 128 : 0;
  static constexpr unsigned slot_bytes = before_slot + elements * sizeof(K);
  using Bits = std::conditional_t<size == 16, std::uint16_t, std::uint8_t>;  // the bits of one pack
  static constexpr unsigned bits_of_tile = elements / size;
  static constexpr unsigned values_bytes = writes_values<O> ? of_warp * sizeof(T) + 16 : 0;
  static constexpr unsigned positions_bytes = needs_positions<O> ? of_warp * 2 : 0;
  static constexpr unsigned staged_bytes = values_bytes + positions_bytes;
  static constexpr unsigned bits_begin = stages * slot_bytes;
  static constexpr unsigned staged_begin = bits_begin + held * bits_of_tile * sizeof(Bits);
  static constexpr unsigned shared_bytes = staged_begin + parts * groups * staged_bytes;
  static_assert(shared_bytes <= 223 * 1024);  // a block may have 227 KB; the records take up to 4 KB
};

}  // namespace upsweep::ladders::select
