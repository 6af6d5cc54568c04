// Places of a small tile's keys in the order of their buckets, by counters that a warp's lanes share.
//
// With counters of their own (lane_ranks.cuh) lanes need not find each other. But those are 8 KB per warp to clear, to
// add up and to read, which takes as long for 256 keys as for 2000; here a warp has 256 counters (warp_ranks.cuh).
#pragma once
#include "kernel/async.h"
#include "kernel/block.h"
#include "ladders/partition/bucket_offsets.cuh"
#include "ladders/partition/warp_ranks.cuh"

namespace upsweep::ladders::partition {

// Stores this thread's elements of a tile at their places: that of element k is half k % 2 of place[k / 2].
template <class T, unsigned count>
__device__ __forceinline__ void store_at_places(T* sorted, const unsigned (&place)[(count + 1) / 2],
                                                const T (&own)[count]) {
  const SharedAddress to = shared_address(sorted);
#pragma unroll
  for (unsigned k = 0; k < count; ++k) at_shared<T>(half_of(place[k / 2], k % 2) * sizeof(T) + to) = own[k];
}

// Block-wide, by a thread for each bucket. A warp has Keys rows of 32 consecutive keys, ranked by WarpBallots or
// WarpSets.
template <unsigned Keys, class Warp>
struct RowRanks {
  static constexpr unsigned warps = most_counted / warp_size;
  static_assert(warps * warp_size * Keys <= 1 << 16, "places have 16 bits");

  // The place in the tile, before it is sorted, of this thread's key k.
  static __device__ unsigned element(unsigned k) {
    return (threadIdx.x / warp_size * Keys + k) * warp_size + threadIdx.x % warp_size;
  }
  static constexpr bool consecutive = false;

  // Needed only inside place().
  struct Memory {
    Warp of_warp[warps];
    alignas(16) unsigned totals[most_counted];
    unsigned warp_totals[warp_size];
  };

  // A tile in work: the counters are dead before its keys are sorted.
  template <unsigned packs>
  struct TileMemory {
    union {
      Memory ranks;
      uint4 both[2 * packs];
    };
    __device__ uint4* staged() { return both; }
    __device__ uint4* sorted() { return both + packs; }
  };
  static constexpr bool ends_with_staged_free = true;

  // As LaneRanks::sort().
  template <bool keep_places, Counting, class Tile, class T, class BucketOf, class Counted>
  static __device__ __forceinline__ void sort(Tile& m, T (&keys)[Keys], BucketOf bucket_of, T nothing,
                                              unsigned (&places)[(Keys + 1) / 2], std::uint16_t* start,
                                              Counted&& counted) {
    place(m.ranks, keys, bucket_of, nothing, places, start, counted);
    store_at_places(reinterpret_cast<T*>(m.sorted()), places, keys);
  }

  // The place of this thread's key k is half k % 2 of place[k / 2]; start[b] becomes the first place of bucket b. As
  // soon as the tile is counted, threads 0 to 63 each call counted(counts of buckets 4 t to 4 t + 3). Begins and ends
  // with a barrier.
  template <class T, class BucketOf, class Counted>
  static __device__ __forceinline__ void place(Memory& m, T (&keys)[Keys], BucketOf bucket_of, T,
                                               unsigned (&place)[(Keys + 1) / 2],
                                               std::uint16_t* start,  // [most_counted], shared
                                               Counted&& counted) {
    const unsigned t = threadIdx.x;
    Warp& own = m.of_warp[t / warp_size];
    __syncthreads();
    own.clear();
    // 1. The rank of each key among the warp's keys of its bucket.
    unsigned ranks[Keys];
    own.rank(Keys, ranks, [&](unsigned k) { return bucket_of(keys[k]); });
    __syncthreads();
    // 2. Where each warp's keys of each bucket begin.
    unsigned counts[warps], sum = 0, total;
#pragma unroll
    for (unsigned w = 0; w < warps; ++w) counts[w] = m.of_warp[w].counts[t];
#pragma unroll
    for (unsigned w = 0; w < warps; ++w) sum += counts[w];
    m.totals[t] = sum;
    unsigned first = block_scan(sum, Sum{}, m.warp_totals, total);
    if (t < most_counted / 4) counted(reinterpret_cast<const uint4*>(m.totals)[t]);
    start[t] = static_cast<std::uint16_t>(first);
#pragma unroll
    for (unsigned w = 0; w < warps; ++w) {
      m.of_warp[w].counts[t] = first;
      first += counts[w];
    }
    __syncthreads();
    // 3. A key's place.
#pragma unroll
    for (unsigned k = 0; k < Keys; ++k) {
      const unsigned at = own.counts[bucket_of(keys[k])] + ranks[k];
      if (k % 2 == 0)
        place[k / 2] = at;
      else
        place[k / 2] |= at << 16;
    }
    fence_before_bulk_copy();  // of something else to m
    __syncthreads();
  }
};

template <unsigned Keys>
using BallotRanks = RowRanks<Keys, WarpBallots>;
template <unsigned Keys>
using SetRanks = RowRanks<Keys, WarpSets>;

}  // namespace upsweep::ladders::partition
