// sort/lane_sweep: one kernel per digit, with the ranks and tiles of partition/lane_counters.
//
// A block of onesweep_8bit has one tile: it waits for its keys, ranks them by ballots, waits for the tiles before it,
// and writes runs of 24 keys. Here a block stays and draws tiles. The next one's keys arrive while this one is written;
// ranks are bytes that a lane has to itself; tiles are large, with runs of 45 keys; and while a tile waits for others,
// the second block of the multiprocessor ranks its own. Few keys are few tiles, which all begin together: then tiles
// are small, their ranks come from counters of a warp's own, and their places from sums of groups instead of a
// look-back.
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
  static constexpr Story story{
      .idea = "onesweep_8bit with ranks by bytes of a lane's own and tiles of 46 KB, the next one fetched meanwhile",
      .prediction = "four passes of 950 us and 290 us to count: 1.3 times CUB",
      .guarantees = "stable",
      .limits = "keys from 2 bytes, values up to 8 (of 2-byte keys 4), n below 2^32; block size fixed",
      .source = "Merrill, Grimshaw, 2011; Adinets, Merrill, Onesweep, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest = 0xffffffff;
  template <class T, class O>
  static constexpr bool supports = sizeof(T) > 1;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (!takes_lane_passes(a.n, sizeof(T), a.values.bytes))
      return {Code::unsupported, 0, "this rung has values of up to 8 bytes, of 2-byte keys 4, and n below 2^32"};
    return lane_passes<OrderOf<T>>(a);
  }
};

// For hybrid too.
template Status lane_passes(const KeyArgs<KeyOrder<std::uint32_t>>&, const BucketSort<KeyOrder<std::uint32_t>>*);
#if !defined(UPSWEEP_GPU_ONE_TYPE)
template Status lane_passes(const KeyArgs<KeyOrder<std::uint16_t>>&, const BucketSort<KeyOrder<std::uint16_t>>*);
template Status lane_passes(const KeyArgs<KeyOrder<std::uint64_t>>&, const BucketSort<KeyOrder<std::uint64_t>>*);
template Status lane_passes(const KeyArgs<FloatKeyOrder<std::uint32_t>>&,
                            const BucketSort<FloatKeyOrder<std::uint32_t>>*);
template Status lane_passes(const KeyArgs<FloatKeyOrder<std::uint64_t>>&,
                            const BucketSort<FloatKeyOrder<std::uint64_t>>*);
#endif

}  // namespace upsweep::ladders::sort
