// Where each tile's keys of each bucket go, by decoupled look-back: nobody counts the tiles beforehand.
//
// A tile publishes how many keys of each bucket it has, as soon as it has counted them; then it looks back over the
// tiles before it, until for each bucket it finds one that has published how many keys it and all tiles before it have.
//
// Source    Merrill, Garland, 2016 (decoupled look-back); Adinets, Merrill, Onesweep, 2022 (one per bucket).
#pragma once
#include "ladders/partition/tile_rows.cuh"

namespace upsweep::ladders::partition {

// A word for each tile and bucket, 0 until the tile has been counted: a count below 2^30 and what it counts.
inline constexpr unsigned counts_tile = 1u << 30;   // the tile's keys
inline constexpr unsigned counts_up_to = 1u << 31;  // and those of all tiles before it
inline constexpr unsigned count_mask = counts_tile - 1;
// Tiles whose words are loaded together. A sort of 2^28 keys takes 3 % longer with two, and no less time with eight.
inline constexpr unsigned tiles_at_once = 4;

struct TileLookback : TileRows {
  static constexpr std::size_t rows_for(std::size_t tiles) { return tiles; }

  struct Memory {
    std::uint64_t starts[most_counted];
  };
  __device__ void prepare(Memory& m) const { load_starts(m.starts); }

  static constexpr unsigned lookers = most_counted / 4;  // threads, each for four buckets
  // By threads 0 to 63.
  __device__ void publish(unsigned tile, uint4 counts) const {
    const unsigned own = tile - first, flag = own == 0 ? counts_up_to : counts_tile;
    store_relaxed(row(words, own), uint4{counts.x | flag, counts.y | flag, counts.z | flag, counts.w | flag});
    for_next_rows(tile, [&](unsigned r) { *row(next_words, r) = uint4{0, 0, 0, 0}; });
  }
  // Block-wide: sets the place of each bucket's first key of a tile, less its place in the tile.
  template <class Place>
  __device__ void find(unsigned tile, unsigned, const Memory& m, const std::uint16_t* start, unsigned tile_keys,
                       Place* place) const {
    if (threadIdx.x >= lookers) return;
    const unsigned row_of_tile = tile - first;
    unsigned before[4] = {}, sought = 0xf;  // buckets whose count is not complete
    for (unsigned left = row_of_tile; sought && left > 0;) {
      uint4 some[tiles_at_once];
#pragma unroll
      for (unsigned k = 0; k < tiles_at_once; ++k) some[k] = load_relaxed(row(words, left > k ? left - 1 - k : 0));
#pragma unroll
      for (unsigned k = 0; k < tiles_at_once; ++k) {
        const unsigned word[4] = {some[k].x, some[k].y, some[k].z, some[k].w};
        const bool counted = word[0] && word[1] && word[2] && word[3];
        if (!counted || !sought) break;
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
          if (sought >> j & 1) before[j] += word[j] & count_mask;
          if (word[j] & counts_up_to) sought &= ~(1u << j);
        }
        --left;
      }
      if (sought && left > 0) spin_hint();
    }
    unsigned own[4], from[4];
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned bucket = 4 * threadIdx.x + j;
      from[j] = start[bucket];
      own[j] = (bucket + 1 < most_counted ? start[bucket + 1] : tile_keys) - from[j];
    }
    if (row_of_tile > 0)
      store_relaxed(row(words, row_of_tile),
                    uint4{(before[0] + own[0]) | counts_up_to, (before[1] + own[1]) | counts_up_to,
                          (before[2] + own[2]) | counts_up_to, (before[3] + own[3]) | counts_up_to});
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned bucket = 4 * threadIdx.x + j;
      place[bucket] = static_cast<Place>(m.starts[bucket]) + before[j] - from[j];
      if (tile + 1 == tiles) next_starts[bucket] = m.starts[bucket] + before[j] + own[j];
    }
  }
};

}  // namespace upsweep::ladders::partition
