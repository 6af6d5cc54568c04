// Where each tile's keys of each bucket go, by decoupled look-back: nobody counts the tiles beforehand.
//
// A tile publishes how many keys of each bucket it has, as soon as it has counted them; then it looks back over the
// tiles before it, until for each bucket it finds one that has published how many keys it and all tiles before it have.
//
// Source    Merrill, Garland, 2016 (decoupled look-back); Adinets, Merrill, Onesweep, 2022 (one per bucket).
#pragma once
#include "kernel/ptx.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// A word for each tile and bucket, 0 until the tile has been counted: a count below 2^30 and what it counts.
inline constexpr unsigned counts_tile = 1u << 30;   // the tile's keys
inline constexpr unsigned counts_up_to = 1u << 31;  // and those of all tiles before it
inline constexpr unsigned count_mask = counts_tile - 1;
// Tiles whose words are loaded together. A sort of 2^28 keys takes 3 % longer with two, and no less time with eight.
inline constexpr unsigned tiles_at_once = 4;

struct TileLookback {
  unsigned tiles;
  const std::uint64_t* starts;  // [most_counted], of the buckets in the output
  unsigned* words;              // [rows_for(tiles)][most_counted], all 0
  unsigned* next_words;         // likewise; set to 0 for the next launch
  static constexpr std::size_t rows_for(std::size_t tiles) { return tiles; }

  struct Memory {
    std::uint64_t starts[most_counted];
  };
  static constexpr unsigned fetched_bytes = 0;
  // Block-wide, without a barrier.
  __device__ void prepare(Memory& m) const {
    for (unsigned b = threadIdx.x; b < most_counted; b += blockDim.x) m.starts[b] = starts[b];
  }
  __device__ void fetch(unsigned, unsigned, Memory&, std::uint64_t*) const {}

  static constexpr unsigned lookers = most_counted / 4;  // threads, each for four buckets
  __device__ uint4* row(unsigned* all, unsigned tile) const {
    return reinterpret_cast<uint4*>(all + std::size_t(tile) * most_counted) + threadIdx.x;
  }
  // By threads 0 to 63.
  __device__ void publish(unsigned tile, uint4 counts) const {
    const unsigned flag = tile == 0 ? counts_up_to : counts_tile;
    store_relaxed(row(words, tile), uint4{counts.x | flag, counts.y | flag, counts.z | flag, counts.w | flag});
    *row(next_words, tile) = uint4{0, 0, 0, 0};
  }
  // Block-wide: sets the place of each bucket's first key of a tile, less its place in the tile.
  template <class Place>
  __device__ void find(unsigned tile, unsigned, const Memory& m, const std::uint16_t* start, unsigned tile_keys,
                       Place* place) const {
    if (threadIdx.x >= lookers) return;
    const unsigned first = 4 * threadIdx.x;
    unsigned before[4] = {}, sought = 0xf;  // buckets whose count is not complete
    for (unsigned left = tile; sought && left > 0;) {
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
      from[j] = start[first + j];
      own[j] = (first + j + 1 < most_counted ? start[first + j + 1] : tile_keys) - from[j];
    }
    if (tile > 0)
      store_relaxed(row(words, tile), uint4{(before[0] + own[0]) | counts_up_to, (before[1] + own[1]) | counts_up_to,
                                            (before[2] + own[2]) | counts_up_to, (before[3] + own[3]) | counts_up_to});
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      place[first + j] = static_cast<Place>(m.starts[first + j]) + before[j] - from[j];
    }
  }
};

}  // namespace upsweep::ladders::partition
