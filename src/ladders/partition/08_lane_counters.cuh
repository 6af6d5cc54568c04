// partition/lane_counters: large tiles, ranked by per-lane counters; each is fetched while the previous one is written.
//
// shared_reorder ranks keys by ballots, four bits of the bucket number per pass. Here ranks for 256 buckets come from
// per-lane byte counters (thread_counters.h). Tiles have 46 KB, so that a run has 45 keys of 4 bytes, mostly whole
// sectors; with values, tiles are twice as large. Once the keys' positions are known, the counters are dead, and the
// copy engine overwrites them with the next tile while the current tile is written. Values follow their keys through
// the same memory: they are fetched while the keys are written, and the next tile's keys are fetched while the values
// are written.
//
// Blocks draw tiles in order, so that their writes stay close together. With a share of the keys per block, as in
// shared_reorder, there would be 67,000 write streams, and the second kernel would take 30 % longer for uniform keys
// (H200). The first kernel therefore counts tile by tile. Two neighbouring tiles share the sector where the run of one
// ends and that of the other begins, so blocks that run ahead are throttled.
//
// Traffic   keys read twice and written once, values read and written once; 4 bytes per tile and bucket, and 12 bytes
//           per chunk of tiles and bucket, written and read.
// Order     stable.
// Source    Merrill, Grimshaw, 2011 (per-thread counters); Stehle, Jacobsen, A Memory Bandwidth-Efficient Hybrid Radix
//           Sort on GPUs, 2017 (large tiles).
#pragma once
#include "ladders/partition/choose.h"
#include "ladders/partition/passes.cuh"

namespace upsweep::ladders::partition {

struct lane_counters {
  static constexpr Needs needs = lane_counters_needs;
  static constexpr Threshold* thresholds[] = {&max_in_small_tiles};
  static constexpr Story story{
      .idea = "ranks from per-lane byte counters; large tiles, the next one fetched during the writes",
      .prediction = "20 shared-memory wavefronts per 32 keys: 0.65 of the copy ceiling for 12 bytes a key at any skew",
      .guarantees = "stable",
      .limits = "up to 256 buckets; any n; block size fixed",
      .source = "Merrill, Grimshaw, 2011; Stehle, Jacobsen, 2017"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t tile_bytes = ThreadTiles<std::uint32_t, 0, 6>::bytes;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.buckets.count > max_counted) return {Code::unsupported, 0, "this rung takes up to 256 buckets"};
    return lane_pass(a);
  }
};

}  // namespace upsweep::ladders::partition
