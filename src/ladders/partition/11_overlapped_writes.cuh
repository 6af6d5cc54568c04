// partition/overlapped_writes: up to 2048 buckets in one pass; a tile is written while the next one is ranked.
//
// In passes_in_tile all warps of a multiprocessor rank, then all of them write: ranking is bound by the latency of
// dependent counter updates in shared memory, writing by L2. Here a thread writes one key of the sorted tile after each
// key of the next tile that it ranks. The tile being written, the tile being ranked and the ranks then need separate
// memory, so tiles are smaller by an eighth. In return each key is stored in the sorted tile as soon as its position is
// known, and there are half as many barriers.
//
// Neighbouring tiles share the sector between their runs of a bucket. L2 holds such partial sectors until they are
// complete, up to about 300,000 on an H200, which is as many as 132 tiles with 2048 buckets leave. If there are more,
// L2 evicts some and later reads them from memory to complete them, and a partition takes up to 18 % longer. So with
// more than 1024 buckets, the two blocks of a cluster have neighbouring tiles and begin to write them at the same time,
// and clusters that run ahead are throttled.
//
// Traffic   keys read twice and written once; 4 bytes per tile and bucket written and read, 7 % of the traffic of a
//           tile's keys.
// Order     stable.
// Source    Merrill, Grimshaw, 2011 (several digits ranked in a tile's shared memory between its load and its store).
#pragma once
#include "kernel/ptx.h"
#include "ladders/partition/choose.h"
#include "ladders/partition/sub_digit_tiles.cuh"

namespace upsweep::ladders::partition {

// The `cluster` blocks of a cluster have neighbouring tiles. `next_group` is zero on entry and exit. Zeroes `totals`,
// [table.row]. `opaque_zero` is as in SubDigitRanks::find_positions().
template <class Tiles, unsigned cluster, class T, class O, class Lower, class Upper>
__global__ void __launch_bounds__(Tiles::block, 1)
    overlapped_writes_kernel(Input<T, O> in, T* out, Lower lower, Upper upper, WideOffsetTable table,
                             unsigned* next_group, unsigned* totals, T opaque_zero) {
  using Ranks = typename Tiles::Ranks;
  constexpr unsigned block = Tiles::block, keys_per_lane = Tiles::keys;
  auto& m = *dynamic_shared<typename Tiles::Memory>();
  T* const sorted = reinterpret_cast<T*>(m.sorted);
  const unsigned t = threadIdx.x, rank = cluster_rank();
  const TileReader<T, Tiles::tile> keys_in{in.keys, in.n};
  const auto fetch = [&](unsigned tile) {  // by one thread
    if (tile >= table.tiles) return;
    mbarrier_arrive_expect(&m.arrived, keys_in.fetched_bytes(tile) + table.row_bytes());
    keys_in.fetch(tile, m.staged, &m.arrived);
    table.fetch_tile(tile, m.of_tile, &m.arrived);
  };
  const auto offset_of = [&](T key) {
    return at_shared<const unsigned>(shared_address(m.offset) + shifted_bucket<2>(in.buckets, key));
  };
  SteppedWrites<Tiles, T, decltype(offset_of)> writes(sorted, out, offset_of);
  unsigned size = 0;  // keys in the sorted tile; 0 if there is none yet
  const auto write_rest = [&] {
    for (unsigned p = t; p < size; p += block) (out + p)[offset_of(sorted[p])] = sorted[p];
  };

  allow_next_launch();
  if (cluster > 1) cluster_sync();  // a block's memory can be written only once it is running
  wait_for_previous();
  if (blockIdx.x == 0)
    for (unsigned b = t; b < table.row; b += block) totals[b] = 0;
  const GroupQueue queue{next_group, (table.tiles - 1) / cluster + 1, gridDim.x / cluster};
  unsigned group = blockIdx.x / cluster, phase = 0;  // phase of m.arrived
  if (t == 0) {
    mbarrier_init(&m.arrived, 1);
    fetch(group * cluster + rank);
  }
  ClusterDraws draws(m.drawn, queue, cluster);
  cluster_sync();
  for (unsigned round = 0; group < queue.groups; ++round) {
    const unsigned tile = group * cluster + rank, next = draws.of_round(round + 1);
    if (tile < table.tiles) {
      // 1. Load the lane's keys, with padding past the end that sorts after all real keys, and the tile's row of the
      // table. Threads write to m.staged only for the last tile or for unaligned keys; in neither case does a bulk copy
      // to m.staged follow.
      uint4 of_tile[table_packs<block>], of_chunk[table_packs<block>];
      table.load_chunk<block>(tile, of_chunk);
      mbarrier_wait(&m.arrived, phase++ % 2);
      T keys[keys_per_lane];
      const unsigned own_size = keys_in.size(tile);
      keys_in.template load<Ranks>(tile, m.staged, key_past_the_end(in, tile, Tiles::tile, own_size), keys);
      table.load_row<block>(m.of_tile, of_tile);
      // 2. Sort by the lower sub-digit while the previous tile is written, and fetch the next tile once all keys are in
      // registers.
      const SharedAddress to = shared_address(sorted);
      const auto put = [&](unsigned k, unsigned position) { at_shared<T>(position * sizeof(T) + to) = keys[k]; };
      const auto all_counted = [&] {
        if (t == 0) fetch(next * cluster + rank);
        draws.start();
      };
      const auto write_meanwhile = [&](unsigned k) {
        writes.step(k);
        if (k == keys_per_lane - 1) writes.step(k + 1), writes.step(k + 2);
      };
      if (size > 0)
        Ranks::find_positions(m.ranks, keys, lower, lower.count, opaque_zero, all_counted, put, write_meanwhile);
      else
        Ranks::find_positions(m.ranks, keys, lower, lower.count, opaque_zero, all_counted, put);
      table.store_offsets<block>(of_tile, of_chunk, m.offset);
      __syncthreads();
      // 3. Sort by the upper sub-digit.
      load_own<Ranks>(sorted, keys);
      Ranks::find_positions(
          m.ranks, keys, upper, upper.count, opaque_zero, [&] { draws.look(); }, put);
      size = own_size;
    } else {  // the last group has no tile for this block
      write_rest();
      size = 0;
    }
    draws.finish(round, group);
    cluster_sync();
    group = next;
  }
  write_rest();
}

struct overlapped_writes {
  static constexpr Needs needs = overlapped_writes_needs;
  static constexpr Story story{
      .idea = "up to 2048 buckets in one pass: a tile is written while the next one is ranked",
      .prediction = "ranking hides the latency of the writes: a tenth faster than passes_in_tile",
      .guarantees = "stable",
      .limits = "257 to 2048 buckets by a digit or function; keys alone, fewer than 2^32; block size fixed",
      .source = "Merrill, Grimshaw, 2011"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t tile_bytes = OverlappedTiles<std::uint32_t>::bytes;
  static constexpr std::size_t largest = 0xffffffff;
  template <class T, class O>
  static constexpr bool supports = !std::is_same_v<O, By<Bucketing::splitters>>;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (!takes_table(a.in.n, a.in.buckets.count, /*searched=*/false) || a.values.bytes > 0)
      return {Code::unsupported, 0, "this rung takes 257 to 2048 buckets and fewer than 2^32 keys, without values"};
    return a.in.buckets.count <= max_alone ? start<1>(a) : start<2>(a);
  }

 private:
  // Maximum buckets for unpaired blocks: 2^28 keys into 1024 buckets take 1326 us unpaired and 1377 us paired.
  static constexpr unsigned max_alone = 1 << 10;
  template <unsigned cluster, class T, class O>
  static Status start(const Args<T, O>& a) {
    using Tiles = OverlappedTiles<T>;
    return by_sub_digits<Tiles>(
        a, [&]<class Lower, class Upper>(const Lower& lower, const Upper& upper, const WideOffsetTable& table,
                                         unsigned* next_group, unsigned* totals) {
          return launch_persistent<Tiles, typename Tiles::Memory, cluster>(
              overlapped_writes_kernel<Tiles, cluster, T, O, Lower, Upper>, a, table.tiles, a.in, a.keys, lower, upper,
              table, next_group, totals, T(0));
        });
  }
};

}  // namespace upsweep::ladders::partition
