// Ranks of a warp's keys among those of the same of 256 buckets, with 256 counters for the warp. Lanes of a row of 32
// keys that have the same bucket have to find each other: by ballots, or in words of shared memory.
#pragma once
#include "kernel/block.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// By eight ballots, which take 27 cycles per row of a multiprocessor of an H200, whatever the buckets.
struct WarpBallots {
  unsigned counts[most_counted];  // of the keys of earlier rows

  // Warp-wide.
  __device__ void clear() {
    for (unsigned b = threadIdx.x % warp_size; b < most_counted; b += warp_size) counts[b] = 0;
    __syncwarp();
  }
  // Warp-wide: sets ranks[k], for k below `rows`, to the number of the warp's keys of bucket_of(k) in lower rows and in
  // lower lanes of its row. Ends with a __syncwarp().
  template <unsigned most_rows, class BucketOf>
  __device__ __forceinline__ void rank(unsigned rows, unsigned (&ranks)[most_rows], BucketOf&& bucket_of) {
    const unsigned lower_lanes = (1u << threadIdx.x % warp_size) - 1;
    // At first the lanes with the same bucket, so that no ballot waits for a counter.
#pragma unroll
    for (unsigned k = 0; k < most_rows; ++k) {
      if (k >= rows) break;
      const unsigned bucket = bucket_of(k);
      ranks[k] = all_lanes;
#pragma unroll
      for (unsigned b = 0; b < 8; ++b) {
        const bool is_set = bucket >> b & 1;
        const unsigned votes = __ballot_sync(all_lanes, is_set);
        ranks[k] &= is_set ? votes : ~votes;
      }
    }
#pragma unroll
    for (unsigned k = 0; k < most_rows; ++k) {
      if (k >= rows) break;
      const unsigned bucket = bucket_of(k), peers = ranks[k];
      const unsigned before = static_cast<unsigned>(__popc(peers & lower_lanes)), count = counts[bucket];
      ranks[k] = count + before;
      __syncwarp();
      if (before == 0) counts[bucket] = count + static_cast<unsigned>(__popc(peers));
      __syncwarp();
    }
  }
};

// By a set of lanes for each bucket: a row's lanes add themselves by atomics, 7 cycles per row if buckets are random
// and 33 if all are the same. Unlike the numbers that atomics return, sets do not depend on the order of the additions.
struct WarpSets {
  unsigned counts[most_counted], lanes[most_counted];  // lanes: of a row; 0 between rows

  __device__ void clear() {
    for (unsigned b = threadIdx.x % warp_size; b < most_counted; b += warp_size) lanes[b] = 0;
    clear_counts();
    __syncwarp();
  }
  // To rank anew, which reads the counts after a __syncwarp() of its own.
  __device__ void clear_counts() {
    for (unsigned b = threadIdx.x % warp_size; b < most_counted; b += warp_size) counts[b] = 0;
  }
  template <unsigned most_rows, class BucketOf>
  __device__ __forceinline__ void rank(unsigned rows, unsigned (&ranks)[most_rows], BucketOf&& bucket_of) {
    const unsigned lane_bit = 1u << threadIdx.x % warp_size;
#pragma unroll
    for (unsigned k = 0; k < most_rows; ++k) {
      if (k >= rows) break;
      const unsigned bucket = bucket_of(k);
      atomicOr(&lanes[bucket], lane_bit);
      __syncwarp();
      const unsigned peers = lanes[bucket], count = counts[bucket];
      const auto before = static_cast<unsigned>(__popc(peers & (lane_bit - 1)));
      ranks[k] = count + before;
      __syncwarp();
      if (before == 0) {
        counts[bucket] = count + static_cast<unsigned>(__popc(peers));
        lanes[bucket] = 0;
      }
      __syncwarp();
    }
  }
};

}  // namespace upsweep::ladders::partition
