// partition/warp_multisplit: a warp sorts its own tile by bucket, and waits for no other.
//
// A block of shared_reorder waits at eleven barriers for each tile. Here the share of the keys, the tile and its
// counters belong to a warp. A row of 32 keys is ranked at once: each lane finds the lanes with its bucket by a ballot
// for each bit of the bucket's number, and one of them adds to the counter. The price is tiles of 512 keys: of few
// buckets, each has a run of many; of 256, a run of two.
//
// Traffic   keys read twice and written once, values read and written once, in runs of a warp's keys of a bucket; 8
//           bytes per warp and bucket, written, scanned and read.
// Order     stable: shares, tiles and rows are in order.
// Source    Ashkiani, Davidson, Meyer, Owens, GPU Multisplit, 2016. There, a warp has one tile, and counts for each of
//           them are scanned; here it has a share, as a block of shared_reorder does.
#pragma once
#include "ladders/partition/warp_pass.cuh"

namespace upsweep::ladders::partition {

struct warp_multisplit {
  static constexpr Story story{
      .idea = "tiles of 512 keys, each sorted by one warp, without barriers",
      .prediction = "twice shared_reorder's speed with 16 buckets; behind it with 256, whose runs are of two keys",
      .guarantees = "stable",
      .limits = "up to 256 buckets; any n; whole warps, at most 512 threads; five launches",
      .source = "Ashkiani et al., GPU Multisplit, 2016"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.buckets.count > max_counted) return {Code::unsupported, 0, "this rung has up to 256 buckets"};
    return warp_pass(a);
  }
};

}  // namespace upsweep::ladders::partition
