// Where each tile's keys of each bucket go, if the tiles are few: they all begin at the same time.
//
// In a look-back (tile_lookback.cuh) a tile reads on until it finds a sum. If all tiles are counted at the same time
// there are no sums yet: the 256th would read 256 rows of a kilobyte, and so would all others, or wait for each other.
// Here 16 tiles form a group, and add their counts to its own: a tile reads the groups before its group and the tiles
// before it in its group, 31 rows at most of 256 tiles.
#pragma once
#include "ladders/partition/tile_rows.cuh"

namespace upsweep::ladders::partition {

// Its words are the tiles' rows, then the groups'.
struct TileGroups : TileRows {
  static constexpr unsigned group = 16;
  static constexpr std::size_t rows_for(std::size_t tiles) { return tiles + ceil_div(tiles, group); }
  // A tile's word is its count and this bit. A group's has the tiles that have added to it above their counts' sum,
  // which is below 2^26: tiles have at most 2^16 keys.
  static constexpr unsigned counted = 1u << 31, one_tile = 1u << 26, sum_mask = one_tile - 1;

  // The block's threads look in sets of 64.
  static constexpr unsigned most_sets = 4;
  struct Memory {
    std::uint64_t starts[most_counted];
    uint4 sums[most_sets][lookers];
  };
  __device__ void prepare(Memory& m) const { load_starts(m.starts); }

  // By threads 0 to 63.
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
  // Block-wide: sets the place of each bucket's first key of a tile, less its place in the tile.
  template <class Place>
  __device__ void find(unsigned tile, unsigned, Memory& m, const std::uint16_t* start, unsigned tile_keys,
                       Place* place) const {
    const unsigned own = tile - first;
    const unsigned set = threadIdx.x / lookers, sets = blockDim.x / lookers, looker = threadIdx.x % lookers;
    uint4 sum{0, 0, 0, 0};
    // Adds rows from, from + sets, ... below end, four at a time, once is_complete(word).
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
      place[bucket] = static_cast<Place>(m.starts[bucket]) + before[j] - start[bucket];
      if (tile + 1 == tiles) {
        const unsigned end = bucket + 1 < most_counted ? start[bucket + 1] : tile_keys;
        next_starts[bucket] = m.starts[bucket] + before[j] + end - start[bucket];
      }
    }
  }
};

}  // namespace upsweep::ladders::partition
