// partition/lane_counters: a lane counts its own keys; tiles are large, and the next one arrives meanwhile.
//
// shared_reorder ranks keys by ballots, four bits of the bucket at a time. Here the ranks for 256 buckets come from
// bytes that only one lane uses (thread_counters.h). Tiles have 46 KB, so that a bucket's run has 45 keys of 4 bytes:
// whole sectors; with values twice as much. As soon as the keys' positions are known, the counters' memory is free: the
// copy engine fills it with the next tile while this one is written. Values take the way of their keys, through the
// same memory: they arrive while the keys are written, and the next keys arrive while the values are.
//
// Blocks draw tiles in order, so that all of them write close to each other: with a share of the keys for each block,
// as in shared_reorder, uniform keys take 30 % longer (67'000 places of memory are written at once). The first kernel
// therefore counts tile by tile. The closer, the better, because two tiles share the sector between their runs: blocks
// that are ahead wait a little.
//
// Traffic   keys read twice and written once, values read and written once; 4 bytes per tile and bucket written and
//           read; 12 bytes per bucket and chunk of tiles, likewise.
// Order     stable.
// Source    Merrill, Grimshaw, 2011 (a thread's own counters); Stehle, Jacobsen, A Memory Bandwidth-Efficient Hybrid
//           Radix Sort on GPUs, 2017 (large tiles).
#pragma once
#include "ladders/partition/choose.h"
#include "ladders/partition/lane_pass.cuh"

namespace upsweep::ladders::partition {

struct lane_counters {
  static constexpr Needs needs = lane_counters_needs;
  static constexpr Story story{
      .idea = "ranks by bytes that one lane has to itself; large tiles, the next one fetched meanwhile",
      .prediction = "20 shared-memory wavefronts per 32 keys: 0.65 of the copy ceiling on 12 bytes, whatever the skew",
      .guarantees = "stable",
      .limits = "up to 256 buckets; any n; block size fixed",
      .source = "Merrill, Grimshaw, 2011; Stehle, Jacobsen, 2017"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.buckets.count > max_counted) return {Code::unsupported, 0, "this rung has up to 256 buckets"};
    return lane_pass(a);
  }
};

}  // namespace upsweep::ladders::partition
