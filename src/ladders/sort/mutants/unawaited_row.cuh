// Wrong on purpose: a tile adds its counts to the previous tile's sums without waiting for them.
//
// The result is right if the previous tile is done, as it always is on one core of the emulator.
//
// Must be caught with 513 keys or more: a race in global memory, reported by the traced emulator for any values; or, if
// the previous tile was not done, keys at wrong offsets.
#pragma once
#include "ladders/sort/ballot_passes.cuh"

namespace upsweep::ladders::sort {

// A look-back in which a tile's row counts the keys of each bucket in that tile and all earlier ones. No flag says
// whether the row has been written.
struct UnawaitedRow : multisplit::TileLookback {
  __device__ void publish(unsigned tile, uint4) const {
    for_next_rows(tile, [&](unsigned r) { *row(next_words, r) = uint4{0, 0, 0, 0}; });
  }
  template <class Offset>
  __device__ void find(unsigned tile, unsigned, const Memory& m, const std::uint16_t* start, unsigned tile_keys,
                       Offset* offset) const {
    if (threadIdx.x >= lookers) return;
    const uint4 before = tile > first ? *row(words, tile - first - 1) : uint4{0, 0, 0, 0};  // the mistake
    unsigned sums[4] = {before.x, before.y, before.z, before.w};
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned bucket = 4 * threadIdx.x + j, end = bucket + 1 < digit_values ? start[bucket + 1] : tile_keys;
      offset[bucket] = static_cast<Offset>(m.starts[bucket]) + sums[j] - start[bucket];
      sums[j] += end - start[bucket];
      if (tile + 1 == tiles) next_starts[bucket] = m.starts[bucket] + sums[j];
    }
    *row(words, tile - first) = uint4{sums[0], sums[1], sums[2], sums[3]};
  }
};

struct unawaited_row {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "the previous tile's sums, read without waiting for them",
                               .prediction = "a race in global memory, and at times a wrong offset"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    using Tile = SweepTile<typename Args<T, O>::Key, UnawaitedRow, 1>;  // small: 512 keys
    return sweep_by_tiles<Tile, OrderOf<T>>(a);
  }
};

}  // namespace upsweep::ladders::sort
