// partition/lookback: a tile learns from the tiles before it where its keys go.
//
// shared_reorder counts every share and scans the counts before it moves a key, and its shares write all over the
// output. How many keys a bucket has does not depend on tiles: one kernel counts that. Then a single kernel moves the
// keys. A block draws the next tile, ranks it, and publishes its counts; then it looks back over the tiles before,
// adding up their counts until it finds a sum of all that came before, and publishes its own sum. Blocks stay, and load
// the next tile's keys while this one is written. The tiles in work are neighbours, and so are their offsets in a
// bucket.
//
// Keys are still read twice: no key's offset is known before the buckets' totals are. What is gone is the table of
// counts of all shares, and its scan.
//
// Traffic   keys read twice and written once, values read and written once; 4 bytes per tile and bucket, set to 0,
//           written twice and read once or more.
// Order     stable.
// Source    Merrill, Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016; Adinets, Merrill,
//           Onesweep, 2022.
#pragma once
#include "ladders/partition/lookback_pass.cuh"

namespace upsweep::ladders::partition {

struct lookback {
  static constexpr Needs needs{{}, 45'600};
  static constexpr Story story{
      .idea = "the buckets' totals counted first; then one kernel, whose tiles find their offsets by look-back",
      .prediction =
          "20 us to count 2^24 u32 keys; 7 cycles to rank and 17 wavefronts to move 32 of them: 100 us, "
          "three times shared_reorder's speed",
      .guarantees = "stable",
      .limits = "up to 256 buckets; any n; blocks of 256 threads",
      .source = "Merrill, Garland, 2016; Adinets, Merrill, Onesweep, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.buckets.count > max_counted) return {Code::unsupported, 0, "this rung has up to 256 buckets"};
    return lookback_pass(a);
  }
};

}  // namespace upsweep::ladders::partition
