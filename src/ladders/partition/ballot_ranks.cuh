// Places of a small tile's keys in the order of their buckets, by ballots.
//
// Lanes of a warp that have the same bucket find each other by eight ballots, which takes 27 cycles per 32 keys of a
// multiprocessor of an H200, ten times as long as with counters of their own (lane_ranks.cuh). But those are 8 KB per
// warp to clear, to add up and to read, which takes as long for 256 keys as for 2000; here a warp has 256 counters.
#pragma once
#include "kernel/async.h"
#include "kernel/block.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// Block-wide, by a thread for each bucket. A warp has Keys rows of 32 consecutive keys.
template <unsigned Keys>
struct BallotRanks {
  static constexpr unsigned warps = most_counted / warp_size;
  static_assert(warps * warp_size * Keys <= 1 << 16, "places have 16 bits");

  // The place in the tile, before it is sorted, of this thread's key k.
  static __device__ unsigned element(unsigned k) {
    return (threadIdx.x / warp_size * Keys + k) * warp_size + threadIdx.x % warp_size;
  }
  static constexpr bool consecutive = false;

  // Needed only inside place().
  struct Memory {
    unsigned counts[warps][most_counted];
    alignas(16) unsigned totals[most_counted];
    unsigned warp_totals[warp_size];
  };

  // As LaneRanks::place().
  template <class T, class BucketOf, class Counted>
  static __device__ __forceinline__ void place(Memory& m, T (&keys)[Keys], BucketOf bucket_of, T,
                                               unsigned (&place)[(Keys + 1) / 2],
                                               std::uint16_t* start,  // [most_counted], shared
                                               Counted&& counted) {
    const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size, lower_lanes = (1u << lane) - 1;
    unsigned* const own = m.counts[warp];
    __syncthreads();
    for (unsigned b = lane; b < most_counted; b += warp_size) own[b] = 0;
    __syncwarp();
    // 1. The rank of each key among the warp's keys of its bucket.
    unsigned ranks[Keys];  // at first the lanes with the same bucket, so that no ballot waits for a counter
#pragma unroll
    for (unsigned k = 0; k < Keys; ++k) {
      const unsigned bucket = bucket_of(keys[k]);
      ranks[k] = all_lanes;
#pragma unroll
      for (unsigned b = 0; b < 8; ++b) {
        const bool is_set = bucket >> b & 1;
        const unsigned votes = __ballot_sync(all_lanes, is_set);
        ranks[k] &= is_set ? votes : ~votes;
      }
    }
#pragma unroll
    for (unsigned k = 0; k < Keys; ++k) {
      const unsigned bucket = bucket_of(keys[k]), peers = ranks[k];
      const unsigned before = static_cast<unsigned>(__popc(peers & lower_lanes)), count = own[bucket];
      ranks[k] = count + before;
      __syncwarp();
      if (before == 0) own[bucket] = count + static_cast<unsigned>(__popc(peers));
      __syncwarp();
    }
    __syncthreads();
    // 2. Where each warp's keys of each bucket begin.
    unsigned of_warp[warps], sum = 0, total;
#pragma unroll
    for (unsigned w = 0; w < warps; ++w) of_warp[w] = m.counts[w][t];
#pragma unroll
    for (unsigned w = 0; w < warps; ++w) sum += of_warp[w];
    m.totals[t] = sum;
    unsigned first = block_scan(sum, Sum{}, m.warp_totals, total);
    if (t < most_counted / 4) counted(reinterpret_cast<const uint4*>(m.totals)[t]);
    start[t] = static_cast<std::uint16_t>(first);
#pragma unroll
    for (unsigned w = 0; w < warps; ++w) {
      m.counts[w][t] = first;
      first += of_warp[w];
    }
    __syncthreads();
    // 3. A key's place.
#pragma unroll
    for (unsigned k = 0; k < Keys; ++k) {
      const unsigned at = own[bucket_of(keys[k])] + ranks[k];
      if (k % 2 == 0)
        place[k / 2] = at;
      else
        place[k / 2] |= at << 16;
    }
    fence_before_bulk_copy();  // of something else to m
    __syncthreads();
  }
};

}  // namespace upsweep::ladders::partition
