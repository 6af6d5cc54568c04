// What tiles tell each other of how many keys of each bucket they have: a row of words per tile.
#pragma once
#include "kernel/relaxed_words.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// The tiles of one launch, which may be some of an input's. What one launch leaves, the next one takes.
struct TileRows {
  unsigned first, tiles;         // the first tile, and the one after the last
  const std::uint64_t* starts;   // [most_counted], in the output: of each bucket's keys in these tiles
  std::uint64_t* next_starts;    // likewise; set for the tiles that follow
  unsigned *words, *next_words;  // [rows][most_counted]; all 0, and set to 0
  unsigned rows;                 // as many as any launch has tiles

  static constexpr unsigned lookers = most_counted / 4;  // threads, each for four buckets
  // Nothing is fetched before the tile is counted.
  static constexpr unsigned fetched_bytes = 0;
  static constexpr bool waits = true;  // for other tiles
  __device__ void fetch(unsigned, unsigned, auto&, std::uint64_t*) const {}

  // Block-wide, without a barrier.
  __device__ void load_starts(std::uint64_t* to) const {
    for (unsigned b = threadIdx.x; b < most_counted; b += blockDim.x) to[b] = starts[b];
  }
  __device__ uint4* row(unsigned* all, unsigned number) const {
    return reinterpret_cast<uint4*>(all + std::size_t(number) * most_counted) + threadIdx.x % lookers;
  }
  // Calls reset(r) for each row that a tile clears for the next launch: its own. The last tile's are all that are left,
  // because the next launch may have more tiles.
  template <class Reset>
  __device__ void for_next_rows(unsigned tile, Reset&& reset) const {
    const unsigned end = tile + 1 == tiles ? rows : tile - first + 1;
    for (unsigned r = tile - first; r < end; ++r) reset(r);
  }
};

}  // namespace upsweep::ladders::partition
