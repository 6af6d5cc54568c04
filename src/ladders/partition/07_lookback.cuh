// partition/lookback: each tile finds its offsets by decoupled look-back over the tiles before it.
//
// shared_reorder counts every share and scans the counts before it moves a key, and its shares write to distant parts
// of the output. Bucket totals do not depend on tiles, so one kernel counts them first. A second, persistent kernel
// moves the keys: a block draws the next tile, ranks it and publishes its counts; then it looks back over the preceding
// tiles, summing their counts until it finds an inclusive prefix, and publishes its own inclusive prefix. It loads the
// next tile's keys while it writes the current tile. Tiles in flight are neighbours, and so are their offsets in a
// bucket.
//
// Keys are still read twice, because no offset is known before the bucket totals are. The table of counts per share,
// and its scan, are gone.
//
// Traffic   keys read twice and written once, values read and written once; 4 bytes per tile and bucket, zeroed,
//           written twice and read at least once.
// Order     stable.
// Source    Merrill, Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016; Adinets, Merrill,
//           Onesweep, 2022.
#pragma once
#include "ladders/partition/passes.cuh"

namespace upsweep::ladders::partition {

struct lookback {
  static constexpr Needs needs{{}, 45'600};
  static constexpr Threshold* thresholds[] = {&keys_per_launch};
  static constexpr Story story{
      .idea = "bucket totals first; then one kernel, whose tiles find their offsets by decoupled look-back",
      .prediction =
          "20 us to count 2^24 u32 keys; per 32 keys, 7 cycles to rank and 17 wavefronts to move: 100 us, "
          "three times shared_reorder's speed",
      .guarantees = "stable",
      .limits = "up to 256 buckets; any n; blocks of 256 threads",
      .source = "Merrill, Garland, 2016; Adinets, Merrill, Onesweep, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t tile_bytes = LargeLoadedTiles<std::uint32_t, 0>::bytes;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.buckets.count > max_counted) return {Code::unsupported, 0, "this rung takes up to 256 buckets"};
    return lookback_pass(a);
  }
};

}  // namespace upsweep::ladders::partition
