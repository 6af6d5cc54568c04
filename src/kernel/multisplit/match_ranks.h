// Positions of a small tile's keys in bucket order, from counters per warp.
//
// Per-lane counters (thread_counters.h) need no matching of lanes. But a warp has 8 KB of them to clear, sum and read,
// which costs as much for 256 keys as for 2000. Here a warp has 256 counters.
#pragma once
#include "kernel/async.h"
#include "kernel/block.h"
#include "kernel/multisplit/tiles.h"

namespace upsweep::multisplit {

// ---- a warp ---------------------------------------------------------------------------------------------------------

// Ranks a warp's keys by 256 buckets, with one counter per bucket. In each row of 32 keys, lanes with equal buckets are
// matched in shared memory: a lane sets its bit in its bucket's lane mask by atomicOr. Per row, this takes a
// multiprocessor of an H200 7 cycles if buckets are random and 33 if all are the same; eight ballots take 27. Unlike
// the values that atomics return, the masks do not depend on the order of the atomics.
struct WarpMatch {
  unsigned counts[max_counted], lanes[max_counted];  // keys in earlier rows; lane mask of this row, 0 between rows

  // Warp-wide: clears counts and lane masks. Ends with a __syncwarp().
  __device__ void clear() {
    for (unsigned b = threadIdx.x % warp_size; b < max_counted; b += warp_size) lanes[b] = 0;
    clear_counts();
    __syncwarp();
  }
  // Warp-wide: clears the counts, for another ranking. Needs no barrier, because rank() has a __syncwarp() before it
  // reads the counts.
  __device__ void clear_counts() {
    for (unsigned b = threadIdx.x % warp_size; b < max_counted; b += warp_size) counts[b] = 0;
  }
  // Warp-wide: for each k < `rows`, calls put(k, rank), where rank is the number of the warp's keys with the same
  // bucket, bucket_of(k), in earlier rows or in lower lanes of row k. Ends with a __syncwarp().
  template <unsigned max_rows, class BucketOf, class Put>
  __device__ __forceinline__ void rank(unsigned rows, BucketOf&& bucket_of, Put&& put) {
    const unsigned lane_bit = 1u << threadIdx.x % warp_size;
#pragma unroll
    for (unsigned k = 0; k < max_rows; ++k) {
      if (k >= rows) break;
      const unsigned bucket = bucket_of(k);
      atomicOr(&lanes[bucket], lane_bit);
      __syncwarp();
      const unsigned peers = lanes[bucket], count = counts[bucket];
      const auto before = static_cast<unsigned>(__popc(peers & (lane_bit - 1)));
      put(k, count + before);
      __syncwarp();
      if (before == 0) {
        counts[bucket] = count + static_cast<unsigned>(__popc(peers));
        lanes[bucket] = 0;
      }
      __syncwarp();
    }
  }
};

// ---- a tile ---------------------------------------------------------------------------------------------------------

// TileRanks by WarpMatch, in blocks with one thread per bucket. A warp has `Keys` rows of 32 consecutive keys. If
// `Fetched`, tiles arrive in shared memory by bulk copies (tile_partition.h). Otherwise threads load their keys
// directly (loaded_tiles.h), so many that registers are scarce.
template <unsigned Keys, bool Fetched = true>
struct MatchRanks {
  static constexpr unsigned keys = Keys, warps = max_counted / warp_size;
  static_assert(warps * warp_size * Keys <= 1 << 16, "positions have 16 bits");

  // The position in the unsorted tile of this thread's key k.
  static __device__ unsigned element(unsigned k) {
    return (threadIdx.x / warp_size * Keys + k) * warp_size + threadIdx.x % warp_size;
  }
  static constexpr bool consecutive = false;

  // Shared memory of find_positions(), dead after it.
  struct Memory {
    WarpMatch of_warp[warps];
    alignas(16) unsigned totals[max_counted];
    unsigned warp_totals[warp_size];
  };

  // Shared memory of a tile being sorted. The counters are dead before the sorted keys are stored.
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

  // As ThreadRanks::sort().
  template <bool keep_positions, Counting, class Tile, class T, class BucketOf, class Counted>
  static __device__ __forceinline__ void sort(Tile& m, T (&keys)[Keys], BucketOf bucket_of, T,
                                              unsigned (&positions)[(Keys + 1) / 2], std::uint16_t* start,
                                              Counted&& counted) {
    find_positions(m.ranks, keys, bucket_of, positions, start, counted);
    store_at_positions(reinterpret_cast<T*>(m.sorted()), positions, keys);
  }

  // Block-wide: sets half k % 2 of positions[k / 2] to the position of this thread's key k, and start[b] to the first
  // position of bucket b. As soon as the tile is counted, each thread t < 64 calls counted() with the counts of buckets
  // 4 t to 4 t + 3. Begins and ends with a barrier.
  template <class T, class BucketOf, class Counted>
  static __device__ __forceinline__ void find_positions(Memory& m, T (&keys)[Keys], BucketOf bucket_of,
                                                        unsigned (&positions)[(Keys + 1) / 2],
                                                        std::uint16_t* start,  // [max_counted], shared
                                                        Counted&& counted) {
    const unsigned t = threadIdx.x;
    WarpMatch& own = m.of_warp[t / warp_size];
    __syncthreads();
    own.clear();
    // 1. Rank each key among the warp's keys of its bucket.
    [[maybe_unused]] unsigned ranks[Fetched ? Keys : 1];  // else ranks are in the halves of `positions`
    own.template rank<Keys>(
        Keys, [&](unsigned k) { return bucket_of(keys[k]); },
        [&](unsigned k, unsigned rank) {
          if constexpr (Fetched)
            ranks[k] = rank;
          else
            put_half(positions, k, rank);
        });
    __syncthreads();
    // 2. Find where each warp's keys of each bucket begin.
    unsigned counts[warps], sum = 0, total;
#pragma unroll
    for (unsigned w = 0; w < warps; ++w) counts[w] = m.of_warp[w].counts[t];
#pragma unroll
    for (unsigned w = 0; w < warps; ++w) sum += counts[w];
    m.totals[t] = sum;
    unsigned first = block_scan(sum, Sum{}, m.warp_totals, total);
    if (t < max_counted / 4) counted(reinterpret_cast<const uint4*>(m.totals)[t]);
    start[t] = static_cast<std::uint16_t>(first);
#pragma unroll
    for (unsigned w = 0; w < warps; ++w) {
      m.of_warp[w].counts[t] = first;
      first += counts[w];
    }
    __syncthreads();
    // 3. Compute each key's position.
#pragma unroll
    for (unsigned k = 0; k < Keys; ++k) {
      const unsigned first_of_warp = own.counts[bucket_of(keys[k])];
      if constexpr (Fetched)
        put_half(positions, k, first_of_warp + ranks[k]);
      else
        positions[k / 2] += first_of_warp << 16 * (k % 2);
    }
    if constexpr (Fetched) fence_before_bulk_copy();  // the next copy overwrites m
    __syncthreads();
  }
};

// Small fetched tiles, for inputs that make too few larger ones. With eight keys per lane, registers suffice for four
// blocks per multiprocessor; with sixteen, for two.
template <class T, unsigned value_bytes, unsigned lane_keys = 8>
struct RowTiles {
  static constexpr unsigned widest = widest_of<T, value_bytes>;
  static constexpr unsigned keys = lane_keys, block = max_counted, blocks_per_sm = widest > 4 || keys > 8 ? 2 : 4;
  static constexpr unsigned tile = block * keys, bytes = tile * widest;
  using Value = ValueOf<value_bytes>;
  using Ranks = MatchRanks<keys>;
};

}  // namespace upsweep::multisplit
