// Tiles that take all the shared memory of a multiprocessor, in two parts: elements arrive in one, and keys are ranked
// and sorted in the other.
#pragma once
#include "kernel/cluster.h"
#include "kernel/evict_last.h"
#include "kernel/multisplit/sub_digit.h"
#include "kernel/multisplit/tiles.h"
#include "kernel/multisplit/wide_table.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// The tiles of passes_in_tile: twelve warps with 60 keys of 4 bytes per lane; 168 registers hold the keys and their
// positions. 2^28 keys into 2048 buckets on an H200, by warps and keys per lane:
//
//   12 x 60   12 x 52   16 x 44   16 x 36   20 x 36   24 x 28
//   1744 us   1813 us   1775 us   1869 us   1934 us   2056 us
template <class T, unsigned value_bytes>
struct LargeTiles : ThreadTiles<T, value_bytes, 12> {
  using Key = T;
  using Ranks = SubDigitRanks<LargeTiles::warps, LargeTiles::keys>;
  using KeyReader = TileReader<T, LargeTiles::tile>;
  using ValueReader = TileReader<typename LargeTiles::Value, LargeTiles::tile>;

  struct Memory {
    union {
      typename Ranks::Memory ranks;
      uint4 sorted[LargeTiles::bytes / 16];  // keys
    };
    uint4 staged[LargeTiles::bytes / 16];  // keys, then values
    WideOffsetTable::Memory rows;
    // Output offset of each bucket's first key, minus its position in the tile.
    uint4 offset[WideOffsetTable::max_buckets / 4];
    std::uint64_t arrived;  // mbarrier
    unsigned next;          // tile number
  };
};

// A block's input. Each thread has an instance; all threads call wait(), one thread calls everything else.
template <class Tiles>
struct LargeTileInput {
  typename Tiles::KeyReader keys;
  typename Tiles::ValueReader values;
  const WideOffsetTable& table;
  typename Tiles::Memory& m;
  unsigned phase = 0;  // phase of m.arrived

  // Fetches a tile's keys and its rows of the table, if the tile exists.
  __device__ void fetch_keys(unsigned tile) const {
    if (tile >= table.tiles) return;
    mbarrier_arrive_expect(&m.arrived, keys.fetched_bytes(tile) + table.fetched_bytes());
    keys.fetch(tile, m.staged, &m.arrived);
    table.fetch(tile, m.rows, &m.arrived);
  }
  __device__ void fetch_values(unsigned tile) const {
    mbarrier_arrive_expect(&m.arrived, values.fetched_bytes(tile));
    values.fetch(tile, m.staged, &m.arrived);
  }
  // Prefetches a tile's keys into L2.
  __device__ void prefetch_keys(unsigned tile) const {
    if (tile >= table.tiles) return;
    if (const unsigned bytes = keys.fetched_bytes(tile)) prefetch_l2(keys.all + std::size_t(tile) * Tiles::tile, bytes);
  }
  // Waits for the last fetch.
  __device__ void wait() { mbarrier_wait(&m.arrived, phase++ % 2); }
};

// The tiles of overlapped_writes, two of which and the ranks take all the shared memory: twelve warps with 52 keys of 4
// bytes per lane. Eleven warps with 60 keys per lane have larger tiles, 21120 keys instead of 19968, but take 1592 us
// instead of 1577 us for 2^28 keys into 2048 buckets (H200).
template <class T>
struct OverlappedTiles : ThreadTiles<T, 0, 12, 13> {
  using Ranks = SubDigitRanks<OverlappedTiles::warps, OverlappedTiles::keys>;

  struct Memory {
    uint4 sorted[OverlappedTiles::bytes / 16];
    uint4 staged[OverlappedTiles::bytes / 16];
    typename Ranks::Memory ranks;
    uint4 of_tile[WideOffsetTable::max_buckets / 4];  // the staged tile's row of the table
    // Output offset of each bucket's first key, minus its position in `sorted`.
    uint4 offset[WideOffsetTable::max_buckets / 4];
    std::uint64_t arrived;  // mbarrier
    unsigned drawn[2];      // memory of ClusterDraws
  };
};

// Writes a thread's keys of a sorted tile to the output, software-pipelined in three stages (load key, load offset,
// store) so that loads are in flight between steps. Call step(0) to step(keys + 1), in order.
template <class Tiles, class T, class OffsetOf>
class SteppedWrites {
 public:
  // offset_of(key) returns the offset in `out` of the key's bucket, minus the bucket's position in the tile.
  __device__ SteppedWrites(const T* sorted, T* out, OffsetOf offset_of)
      : offset_of_(offset_of), from_(sorted + threadIdx.x), to_(as_computed(out + threadIdx.x)) {}
  __device__ __forceinline__ void step(unsigned k) {
    if (k >= 2) store_evict_last(&(to_ + offset_[(k - 2) % 3])[(k - 2) * Tiles::block], key_[(k - 2) % 3]);
    if (k >= 1 && k <= Tiles::keys) offset_[(k - 1) % 3] = offset_of_(key_[(k - 1) % 3]);
    if (k < Tiles::keys) key_[k % 3] = from_[k * Tiles::block];
  }

 private:
  const OffsetOf offset_of_;
  const T* const from_;
  T* const to_;
  T key_[3]{};
  unsigned offset_[3]{};
};

// The queue of groups of consecutive tiles, one tile per block of a cluster. Cluster c starts with group c and draws
// further groups: once before its first group and once per group that it gets.
struct GroupQueue {
  unsigned* next;  // zero on entry and exit of the kernel
  unsigned groups, clusters;

  // A draw in two parts: start_draw() returns a number, still in flight, and drawn() turns it into a group. By one
  // thread.
  __device__ unsigned start_draw() const { return atomicAdd(next, 1u); }
  __device__ unsigned drawn(unsigned number) const {
    if (number == groups + clusters - 1) atomicExch(next, 0u);  // the last draw; keep_pace() may be reading it
    return clusters + number;
  }
  __device__ unsigned count_draws() const { return atomicAdd(next, 0u); }
  // Throttles clusters that run ahead: waits until a third of the clusters have drawn again after this group, but not
  // for long, because the other clusters need not be resident. Called late in the work on a group, when usually half of
  // the clusters have. By one thread, which passes an earlier count_draws() as `draws`.
  __device__ void keep_pace(unsigned group, unsigned draws) const {
    constexpr unsigned max_polls = 8;  // 0.7 us each on an H200, where a group takes 11 us
    if (group < clusters) return;
    for (unsigned polls = 0; draws - group < clusters + clusters / 3 && draws < groups && polls < max_polls; ++polls)
      draws = count_draws();
  }
};

// A cluster's draws. One thread draws, a round ahead, and stores the group in every block's shared memory; the cluster
// barrier that each round has anyway makes the group visible.
class ClusterDraws {
 public:
  using Memory = unsigned[2];  // in each block's shared memory: the groups of the next round and of the one after it

  // All `cluster` blocks must be running. A cluster barrier by the caller must follow.
  __device__ ClusterDraws(Memory& drawn, const GroupQueue& queue, unsigned cluster)
      : queue_(queue), drawn_(drawn), cluster_(cluster), draws_(threadIdx.x == 0 && cluster_rank() == 0) {
    if (draws_) hand_out(1, queue_.drawn(queue_.start_draw()));
  }
  __device__ unsigned of_round(unsigned round) const { return drawn_[round % 2]; }
  // To be called in every round, in this order, before its barrier: start() draws, look() counts the draws of all
  // clusters, and finish() hands out the group for the round after the next one.
  __device__ void start() {
    if (draws_) number_ = queue_.start_draw();
  }
  __device__ void look() {
    if (cluster_ > 1 && draws_) seen_ = queue_.count_draws();
  }
  __device__ void finish(unsigned round, unsigned group) const {
    if (!draws_) return;
    hand_out(round, queue_.drawn(number_));
    if (cluster_ > 1) queue_.keep_pace(group, seen_);
  }

 private:
  __device__ void hand_out(unsigned round, unsigned group) const {
#pragma unroll
    for (unsigned r = 0; r < cluster_; ++r) store_in_cluster(&drawn_[round % 2], r, group);
  }
  const GroupQueue queue_;
  Memory& drawn_;
  const unsigned cluster_;
  const bool draws_;
  unsigned number_ = 0, seen_ = 0;
};

// Splits the buckets of a call into two sub-digits, computes the table of tile offsets, and calls launch_tiles(lower,
// upper, table, next_tile, totals) to move the keys. The kernel that it launches must zero `totals` again.
template <class Tiles, class T, class O, class LaunchTiles>
Status by_sub_digits(const Args<T, O>& a, LaunchTiles&& launch_tiles) {
  if (a.tuning.block && a.tuning.block != Tiles::block)
    return {Code::unsupported, 0, "this rung has blocks of 384 threads"};
  unsigned* const totals = a.workspace->counters(WideOffsetTable::max_buckets + 1);
  if (!totals) return no_memory;
  Scratch scratch(*a.workspace);
  WideOffsetTable table;
  if (Status s = make_wide_table<Tiles::tile>(a, totals, scratch, table); !s || a.in.n == 0) return s;
  const DigitSplit split(a.in.buckets.count);
  return launch_tiles(split.lower(a.in.buckets), split.upper(a.in.buckets), table,
                      totals + WideOffsetTable::max_buckets, totals);
}

}  // namespace upsweep::ladders::partition
