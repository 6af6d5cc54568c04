// Bucket offsets of a tile from the counts that tiles publish to each other: by decoupled look-back or, for few tiles,
// by group sums. No kernel counts the tiles beforehand.
//
// Source    Merrill, Garland, 2016 (decoupled look-back); Adinets, Merrill, Onesweep, 2022 (one per bucket).
#pragma once
#include "kernel/multisplit/args.h"
#include "kernel/relaxed_words.h"

namespace upsweep::multisplit {

// ---- rows -----------------------------------------------------------------------------------------------------------

// The counts that tiles publish, one row of words per tile. A launch may cover part of an input's tiles; the next
// launch then continues where this one ended.
struct TileRows {
  unsigned first, tiles;         // this launch has tiles [first, tiles)
  const std::uint64_t* starts;   // [max_counted], output offset of each bucket's first key in these tiles
  std::uint64_t* next_starts;    // [max_counted], output: `starts` of the next launch
  unsigned *words, *next_words;  // [rows][max_counted]: `words` is zero on entry; `next_words` is zeroed
  unsigned rows;                 // maximum number of tiles per launch

  static constexpr unsigned lookers = max_counted / 4;  // threads, with four buckets each
  // Nothing is fetched before the tile is counted.
  static constexpr unsigned fetched_bytes = 0;
  static constexpr bool waits = true;  // find() waits for other tiles
  __device__ void fetch(unsigned, unsigned, auto&, std::uint64_t*) const {}

  // Block-wide: copies `starts` to shared memory. Has no barrier.
  __device__ void load_starts(std::uint64_t* to) const {
    for (unsigned b = threadIdx.x; b < max_counted; b += blockDim.x) to[b] = starts[b];
  }
  __device__ uint4* row(unsigned* all, unsigned number) const {
    return reinterpret_cast<uint4*>(all + std::size_t(number) * max_counted) + threadIdx.x % lookers;
  }
  // Calls reset(r) for each row r that a tile clears for the next launch: the tile's own row and, in the last tile, all
  // rows after it too, because the next launch may have more tiles.
  template <class Reset>
  __device__ void for_next_rows(unsigned tile, Reset&& reset) const {
    const unsigned end = tile + 1 == tiles ? rows : tile - first + 1;
    for (unsigned r = tile - first; r < end; ++r) reset(r);
  }
};

// ---- look-back ------------------------------------------------------------------------------------------------------

// One word per tile and bucket, 0 until the tile is counted: a count below 2^30, and a flag for which tiles it covers.
inline constexpr unsigned counts_tile = 1u << 30;   // this tile
inline constexpr unsigned counts_up_to = 1u << 31;  // this tile and all before it
inline constexpr unsigned count_mask = counts_tile - 1;
// Tiles whose words are loaded together. A sort of 2^28 keys takes 3 % longer with two, and is no faster with eight.
inline constexpr unsigned tiles_at_once = 4;

// Decoupled look-back, per bucket: a tile publishes its count of each bucket's keys as soon as it has counted them;
// then it looks back over the preceding tiles until it has found an inclusive prefix for each bucket.
struct TileLookback : TileRows {
  static constexpr std::size_t rows_for(std::size_t tiles) { return tiles; }

  struct Memory {
    std::uint64_t starts[max_counted];
  };
  __device__ void prepare(Memory& m) const { load_starts(m.starts); }

  // Publishes the counts of four buckets per thread; by threads 0 to 63.
  __device__ void publish(unsigned tile, uint4 counts) const {
    const unsigned own = tile - first, flag = own == 0 ? counts_up_to : counts_tile;
    store_relaxed(row(words, own), uint4{counts.x | flag, counts.y | flag, counts.z | flag, counts.w | flag});
    for_next_rows(tile, [&](unsigned r) { *row(next_words, r) = uint4{0, 0, 0, 0}; });
  }
  // Block-wide: sets offset[b] to the output offset of bucket b's first key, minus the key's position in the tile.
  template <class Offset>
  __device__ void find(unsigned tile, unsigned, const Memory& m, const std::uint16_t* start, unsigned tile_keys,
                       Offset* offset) const {
    if (threadIdx.x >= lookers) return;
    const unsigned row_of_tile = tile - first;
    unsigned before[4] = {}, sought = 0xf;  // buckets whose prefix is incomplete
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
      own[j] = (bucket + 1 < max_counted ? start[bucket + 1] : tile_keys) - from[j];
    }
    if (row_of_tile > 0)
      store_relaxed(row(words, row_of_tile),
                    uint4{(before[0] + own[0]) | counts_up_to, (before[1] + own[1]) | counts_up_to,
                          (before[2] + own[2]) | counts_up_to, (before[3] + own[3]) | counts_up_to});
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned bucket = 4 * threadIdx.x + j;
      offset[bucket] = static_cast<Offset>(m.starts[bucket]) + before[j] - from[j];
      if (tile + 1 == tiles) next_starts[bucket] = m.starts[bucket] + before[j] + own[j];
    }
  }
};

// ---- groups ---------------------------------------------------------------------------------------------------------

// Offsets by group sums, for few tiles, all of which begin at the same time.
//
// In a look-back, a tile reads the rows of preceding tiles until it finds a prefix. If all tiles are counted at the
// same time, there are no prefixes yet: the last of 256 tiles would read 255 rows of a kilobyte, or wait for a
// predecessor that does. Here 16 tiles form a group and add their counts to the group's row. A tile reads the rows of
// earlier groups and of earlier tiles in its group, at most 30 rows for 256 tiles. The tiles' rows come first, then the
// groups'.
struct TileGroups : TileRows {
  static constexpr unsigned group = 16;
  static constexpr std::size_t rows_for(std::size_t tiles) { return tiles + ceil_div(tiles, group); }
  // A tile's word has its count and the bit `counted`. A group's word has the sum of its tiles' counts in the lower 26
  // bits, which suffice because tiles have at most 2^16 keys, and the number of tiles added so far in the bits above.
  static constexpr unsigned counted = 1u << 31, one_tile = 1u << 26, sum_mask = one_tile - 1;

  // A block reads rows by up to four sets of 64 threads; each set reads a share of the rows.
  static constexpr unsigned max_sets = 4;
  struct Memory {
    std::uint64_t starts[max_counted];
    uint4 sums[max_sets][lookers];
  };
  __device__ void prepare(Memory& m) const { load_starts(m.starts); }

  // Publishes the counts of four buckets per thread; by threads 0 to 63.
  __device__ void publish(unsigned tile, uint4 counts) const {
    const unsigned own = tile - first;
    store_relaxed(row(words, own),
                  uint4{counts.x | counted, counts.y | counted, counts.z | counted, counts.w | counted});
    auto* const of_group = reinterpret_cast<unsigned*>(row(words, rows + own / group));
    atomicAdd(of_group, counts.x + one_tile);
    atomicAdd(of_group + 1, counts.y + one_tile);
    atomicAdd(of_group + 2, counts.z + one_tile);
    atomicAdd(of_group + 3, counts.w + one_tile);
    for_next_rows(tile, [&](unsigned r) {
      *row(next_words, r) = uint4{0, 0, 0, 0};
      if (r % group == 0) *row(next_words, rows + r / group) = uint4{0, 0, 0, 0};
    });
  }
  // Block-wide: sets offset[b] to the output offset of bucket b's first key, minus the key's position in the tile.
  template <class Offset>
  __device__ void find(unsigned tile, unsigned, Memory& m, const std::uint16_t* start, unsigned tile_keys,
                       Offset* offset) const {
    const unsigned own = tile - first;
    const unsigned set = threadIdx.x / lookers, sets = blockDim.x / lookers, looker = threadIdx.x % lookers;
    uint4 sum{0, 0, 0, 0};
    // Adds this set's share of rows [from, end) to `sum`, four rows at a time, waiting until is_complete(word) holds
    // for all of their words.
    const auto add_rows = [&](unsigned from, unsigned end, auto&& is_complete) {
      constexpr unsigned at_once = 4;
      for (unsigned r = from + set; r < end; r += at_once * sets) {
        uint4 some[at_once];
        bool complete;
        do {
          complete = true;
#pragma unroll
          for (unsigned k = 0; k < at_once; ++k)
            some[k] = load_relaxed(row(words, r + k * sets < end ? r + k * sets : r));
#pragma unroll
          for (unsigned k = 0; k < at_once; ++k)
            complete &=
                is_complete(some[k].x) && is_complete(some[k].y) && is_complete(some[k].z) && is_complete(some[k].w);
          if (!complete) spin_hint();
        } while (!complete);
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k) {
          if (r + k * sets >= end) break;
          sum.x += some[k].x & sum_mask, sum.y += some[k].y & sum_mask;
          sum.z += some[k].z & sum_mask, sum.w += some[k].w & sum_mask;
        }
      }
    };
    add_rows(rows, rows + own / group, [](unsigned word) { return word / one_tile == group; });
    add_rows(own / group * group, own, [](unsigned word) { return word >= counted; });
    m.sums[set][looker] = sum;
    __syncthreads();
    if (set > 0) return;
    for (unsigned s = 1; s < sets; ++s) {
      const uint4 more = m.sums[s][looker];
      sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
    }
    const unsigned before[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned bucket = 4 * looker + j;
      offset[bucket] = static_cast<Offset>(m.starts[bucket]) + before[j] - start[bucket];
      if (tile + 1 == tiles) {
        const unsigned end = bucket + 1 < max_counted ? start[bucket + 1] : tile_keys;
        next_starts[bucket] = m.starts[bucket] + before[j] + end - start[bucket];
      }
    }
  }
};

}  // namespace upsweep::multisplit
