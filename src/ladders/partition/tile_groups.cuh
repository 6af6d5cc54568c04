// Where each tile's keys of each bucket go, if the tiles are few: they all begin at the same time.
//
// In a look-back (tile_lookback.cuh) a tile reads on until it finds a sum. If all tiles are counted at the same time
// there are no sums yet: the 256th would read 256 rows of a kilobyte, and so would all others, or wait for each other.
// Here 16 tiles form a group, and add their counts to its own: a tile reads the groups before its group and the tiles
// before it in its group, 31 rows at most of 256 tiles.
#pragma once
#include "kernel/ptx.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

struct TileGroups {
  unsigned tiles;
  const std::uint64_t* starts;  // [most_counted], of the buckets in the output
  unsigned* words;              // [rows_for(tiles)][most_counted], all 0: the tiles' rows, then the groups'
  unsigned* next_words;         // likewise; set to 0 for the next launch

  static constexpr unsigned group = 16;
  static constexpr std::size_t rows_for(std::size_t tiles) { return tiles + ceil_div(tiles, group); }
  // A tile's word is its count and this bit. A group's has the tiles that have added to it above their counts' sum,
  // which is below 2^26: tiles have at most 2^16 keys.
  static constexpr unsigned counted = 1u << 31, one_tile = 1u << 26, sum_mask = one_tile - 1;

  // The block's threads look in sets of 64, each for four buckets.
  static constexpr unsigned lookers = most_counted / 4, most_sets = 4;
  struct Memory {
    std::uint64_t starts[most_counted];
    uint4 sums[most_sets][lookers];
  };
  static constexpr unsigned fetched_bytes = 0;
  // Block-wide, without a barrier.
  __device__ void prepare(Memory& m) const {
    for (unsigned b = threadIdx.x; b < most_counted; b += blockDim.x) m.starts[b] = starts[b];
  }
  __device__ void fetch(unsigned, unsigned, Memory&, std::uint64_t*) const {}

  __device__ uint4* row(unsigned* all, unsigned number) const {
    return reinterpret_cast<uint4*>(all + std::size_t(number) * most_counted) + threadIdx.x % lookers;
  }
  // By threads 0 to 63.
  __device__ void publish(unsigned tile, uint4 counts) const {
    store_relaxed(row(words, tile),
                  uint4{counts.x | counted, counts.y | counted, counts.z | counted, counts.w | counted});
    auto* const of_group = reinterpret_cast<unsigned*>(row(words, tiles + tile / group));
    atomicAdd(of_group, counts.x + one_tile);
    atomicAdd(of_group + 1, counts.y + one_tile);
    atomicAdd(of_group + 2, counts.z + one_tile);
    atomicAdd(of_group + 3, counts.w + one_tile);
    *row(next_words, tile) = uint4{0, 0, 0, 0};
    if (tile % group == 0) *row(next_words, tiles + tile / group) = uint4{0, 0, 0, 0};
  }
  // Block-wide: sets the place of each bucket's first key of a tile, less its place in the tile.
  template <class Place>
  __device__ void find(unsigned tile, unsigned, Memory& m, const std::uint16_t* start, unsigned, Place* place) const {
    const unsigned set = threadIdx.x / lookers, sets = blockDim.x / lookers, looker = threadIdx.x % lookers;
    uint4 sum{0, 0, 0, 0};
    // Adds rows first, first + sets, ... below end, four at a time, once is_complete(word).
    const auto add_rows = [&](unsigned first, unsigned end, auto&& is_complete) {
      constexpr unsigned at_once = 4;
      for (unsigned r = first + set; r < end; r += at_once * sets) {
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
    add_rows(tiles, tiles + tile / group, [](unsigned word) { return word / one_tile == group; });
    add_rows(tile / group * group, tile, [](unsigned word) { return word >= counted; });
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
    }
  }
};

}  // namespace upsweep::ladders::partition
