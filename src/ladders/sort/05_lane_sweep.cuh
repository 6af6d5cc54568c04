// sort/lane_sweep: one kernel per digit, with the ranks and tiles of partition/lane_counters.
//
// A block of onesweep_8bit has one tile: it waits for the tile's keys, ranks them by ballots, waits for earlier tiles,
// and writes runs of 24 keys. Here blocks are persistent and draw tiles. The next tile's keys arrive while the current
// tile is written. Ranks come from byte counters, private to a lane. Tiles are large, with runs of 45 keys. While a
// tile waits for others, the multiprocessor's second block ranks its tile. A small input has few tiles, which all start
// together: it takes small tiles, per-warp counters, and offsets from sums over groups of tiles instead of a look-back.
//
// Traffic   keys read once to count all digits, then read and written once per digit; values read and written once per
//           digit; 4 bytes per tile and bucket written twice and read once or more.
// Order     stable.
// Source    Adinets, Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022.
#pragma once
#include "ladders/sort/choose.h"
#include "ladders/sort/lane_passes.cuh"

namespace upsweep::ladders::sort {

struct lane_sweep {
  static constexpr Needs needs = lane_sweep_needs;
  static constexpr Threshold* thresholds[] = {&portion_keys, &max_in_small, &max_in_medium};
  static constexpr Story story{
      .idea = "onesweep_8bit with per-lane byte counters for ranks, and 46 KB tiles, the next one prefetched",
      .prediction = "four passes of 950 us each, and 290 us to count: 1.3 times CUB",
      .guarantees = "stable",
      .limits = "keys of 2 bytes or more, values up to 8 (4 with 2-byte keys), n below 2^32; block size fixed",
      .source = "Merrill, Grimshaw, 2011; Adinets, Merrill, Onesweep, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t tile_bytes = multisplit::ThreadTiles<std::uint32_t, 0, 6>::bytes;
  static constexpr std::size_t largest = 0xffffffff;
  template <class T, class O>
  static constexpr bool supports = sizeof(T) > 1;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return lane_passes<OrderOf<T>>(a);
  }
};

// Used by hybrid too. 64-bit keys take half of the compile time, so they have a unit of their own:
// lane_passes_unit.cuh.
template Status lane_passes(const KeyArgs<KeyOrder<std::uint32_t>>&, const BucketSort<KeyOrder<std::uint32_t>>*);
#if !defined(UPSWEEP_GPU_ONE_TYPE)
template Status lane_passes(const KeyArgs<KeyOrder<std::uint16_t>>&, const BucketSort<KeyOrder<std::uint16_t>>*);
template Status lane_passes(const KeyArgs<FloatKeyOrder<std::uint32_t>>&,
                            const BucketSort<FloatKeyOrder<std::uint32_t>>*);
extern template Status lane_passes(const KeyArgs<KeyOrder<std::uint64_t>>&, const BucketSort<KeyOrder<std::uint64_t>>*);
extern template Status lane_passes(const KeyArgs<FloatKeyOrder<std::uint64_t>>&,
                                   const BucketSort<FloatKeyOrder<std::uint64_t>>*);
#endif

}  // namespace upsweep::ladders::sort
