// partition/lane_counters: a lane counts its own keys; tiles are large, and the next one arrives meanwhile.
//
// shared_reorder ranks keys by ballots, four bits of the bucket at a time. Here the ranks for 256 buckets come from
// bytes that only one lane uses (lane_ranks.cuh). Tiles have 46 KB, so that a bucket's run has 45 keys of 4 bytes:
// whole sectors; with values twice as much. As soon as the keys' places are known, the counters' memory is free: the
// copy engine fills it with the next tile while this one is written. Values take the way of their keys, through the
// same memory: they arrive while the keys are written, and the next keys arrive while the values are.
//
// Blocks draw tiles in order, so that all of them write close to each other: with a share of the keys for each block,
// as in shared_reorder, uniform keys take 30 % longer (67'000 places of memory are written at once). The first kernel
// therefore counts tile by tile.
//
// Traffic   keys read twice and written once, values read and written once; 4 bytes per tile and bucket written and
//           read; 12 bytes per bucket and chunk of tiles, likewise.
// Order     stable.
// Source    Merrill, Grimshaw, 2011 (a thread's own counters); Stehle, Jacobsen, A Memory Bandwidth-Efficient Hybrid
//           Radix Sort on GPUs, 2017 (large tiles).
#pragma once
#include "kernel/run_rung.h"
#include "ladders/partition/lane_tiles.cuh"
#include "ladders/partition/tile_places.cuh"

namespace upsweep::ladders::partition {

// `next_tile` is 0, and left so; `nothing` is 0, as LaneRanks wants it.
template <class Tiles, bool has_values, class Place, class T, class O>
__global__ void __launch_bounds__(Tiles::block, Tiles::blocks_per_sm)
    lane_counters_kernel(Input<T, O> in, T* out, Values values, TilePlaces places, unsigned* next_tile, T nothing) {
  using Value = typename Tiles::Value;
  constexpr unsigned block = Tiles::block, keys_per_lane = Tiles::keys;
  auto& m = *dynamic_shared<LaneTilesMemory<Place, Tiles, T, has_values>>();
  const unsigned t = threadIdx.x;
  const TileReader<T, Tiles::tile> keys_in{in.keys, in.n};
  const TileReader<Value, Tiles::tile> values_in{static_cast<const Value*>(values.in), in.n};
  // Tiles are drawn, so that those in work stay close together.
  const auto draw = [&] {  // by one thread
    const unsigned drawn = atomicAdd(next_tile, 1u);
    if (drawn == places.tiles + gridDim.x - 1) *next_tile = 0;
    return drawn;
  };
  const auto fetch_keys = [&](unsigned tile, TileRow& row) {  // by one thread
    if (tile >= places.tiles) return;
    mbarrier_arrive_expect(&m.arrived, keys_in.fetched_bytes(tile) + sizeof row);
    keys_in.fetch(tile, m.tile.staged, &m.arrived);
    places.fetch(tile, row, &m.arrived);
  };
  const auto fetch_values = [&](unsigned tile) {  // by one thread
    mbarrier_arrive_expect(&m.arrived, values_in.fetched_bytes(tile));
    values_in.fetch(tile, m.tile.staged, &m.arrived);
  };
  unsigned phase = 0;  // of m.arrived
  const auto wait = [&] { mbarrier_wait(&m.arrived, phase++ % 2); };
  allow_next_launch();
  wait_for_previous();
  if (t == 0) {
    mbarrier_init(&m.arrived, 1);
    m.next = draw();
    fetch_keys(m.next, m.rows[0]);
  }
  __syncthreads();
  unsigned turn = 0;  // which row is this tile's
  for (unsigned tile = m.next; tile < places.tiles; tile = m.next, turn ^= 1) {
    const auto for_each_place = [&, size = keys_in.size(tile)](auto&& write) {
      if (size == Tiles::tile) {
#pragma unroll 6
        for (unsigned k = 0; k < keys_per_lane; ++k) write(k * block + t);
      } else {
        for (unsigned p = t; p < size; p += block) write(p);
      }
    };
    unsigned following = 0;  // as long as this tile is in work
    if (!has_values && t == 0) following = draw();
    // 1. The lane's keys. Those past the end are in the last bucket, and being last they come after all others. What is
    // there, nobody knows of a function of the caller's: then the last bucket of the tile will do.
    wait();
    T keys[keys_per_lane], past = T(~T(0));
    if constexpr (!requires { O::bucketing; })
      if (const unsigned size = keys_in.size(tile); size < Tiles::tile)
        past = key_of_last_bucket(in, std::size_t(tile) * Tiles::tile, size);
    keys_in.load(tile, m.tile.staged, past, keys);
    // 2. Their places in the tile, and where its buckets belong.
    unsigned place[keys_per_lane / 2];
    Tiles::Ranks::place(m.ranks, keys, in.buckets, nothing, place, m.start);
    const auto place_of = [&](unsigned k) { return place[k / 2] >> k % 2 * 16 & 0xffff; };
    if (t == 0) {
      if (has_values)
        fetch_values(tile);
      else
        fetch_keys(following, m.rows[turn ^ 1]);
    }
    const TileRow& row = m.rows[turn];
    for (unsigned b = t; b < most_counted; b += block)
      m.place[b] = static_cast<Place>(row.of_chunk[b]) + row.before[b] - m.start[b];
    // 3. The tile by bucket.
    T* const sorted_keys = reinterpret_cast<T*>(m.tile.sorted);
#pragma unroll
    for (unsigned k = 0; k < keys_per_lane; ++k) sorted_keys[place_of(k)] = keys[k];
    if (!has_values && t == 0) m.next = following;
    __syncthreads();
    // 4. Neighbouring places of a bucket to neighbouring ones of the output.
    for_each_place([&](unsigned p) {
      const T key = sorted_keys[p];
      const unsigned bucket = in.buckets(key);
      out[m.place[bucket] + p] = key;
      if (has_values) m.bucket[p] = static_cast<std::uint8_t>(bucket);
    });
    // 5. The values the same way.
    if constexpr (has_values) {
      if (t == 0) following = draw();
      wait();
      Value own[keys_per_lane];
      values_in.load(tile, m.tile.staged, Value(0), own);
      fence_before_bulk_copy();
      __syncthreads();
      if (t == 0) {
        fetch_keys(following, m.rows[turn ^ 1]);
        m.next = following;
      }
      Value* const sorted = reinterpret_cast<Value*>(m.tile.sorted);
#pragma unroll
      for (unsigned k = 0; k < keys_per_lane; ++k) sorted[place_of(k)] = own[k];
      __syncthreads();
      for_each_place([&](unsigned p) { static_cast<Value*>(values.out)[m.place[m.bucket[p]] + p] = sorted[p]; });
    }
  }
}

struct shared_reorder;
extern const Rung kernel_shared_reorder_rung;

struct lane_counters {
  static constexpr Story story{
      .idea = "ranks by bytes that one lane has to itself; large tiles, the next one fetched meanwhile",
      .prediction = "20 shared-memory wavefronts per 32 keys: 0.65 of the copy ceiling on 12 bytes, whatever the skew",
      .guarantees = "stable",
      .limits = "up to 256 buckets and values of 8 bytes, else shared_reorder; any n; block size fixed",
      .source = "Merrill, Grimshaw, 2011; Stehle, Jacobsen, 2017"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.buckets.count > most_counted || a.values.bytes > 8)
      return run_rung<shared_reorder, kernel_shared_reorder_rung>(a);
    return a.values.bytes == 0 ? start<0, 6>(a) : a.values.bytes == 4 ? with_values<4>(a) : with_values<8>(a);
  }

 private:
  // Keys alone have two blocks per multiprocessor, one of which moves memory while the other ranks. With values one is
  // faster, if there are tiles for all: they are twice as large, so runs are longer, and fewer sectors wait in L2 for
  // their other half (docs/notes/partition.md).
  template <unsigned value_bytes, class T, class O>
  static Status with_values(const Args<T, O>& a) {
    using Large = LaneTiles<T, value_bytes, 12>;
    const bool large = a.tuning.block ? a.tuning.block == Large::block
                                      : a.in.n >= std::size_t(device_limits().multiprocessors) * Large::tile;
    return large ? start<value_bytes, 12>(a) : start<value_bytes, 6>(a);
  }
  template <unsigned value_bytes, unsigned warps, class T, class O>
  static Status start(const Args<T, O>& a) {
    using Tiles = LaneTiles<T, value_bytes, warps>;
    constexpr bool has_values = value_bytes > 0;
    if (a.tuning.block && a.tuning.block != Tiles::block)
      return {Code::unsupported, 0, "this rung has blocks of 192 threads, and of 384 for values"};
    TilePlaces places;
    if (Status s = find_tile_places<Tiles::tile>(a, places); !s || a.in.n == 0) return s;
    unsigned* const next_tile = a.workspace->counters(1);
    if (!next_tile) return no_memory;
    const unsigned most = a.tuning.grid_or(Tiles::blocks_per_sm * std::size_t(device_limits().multiprocessors));
    const auto by_place = [&]<class Place>(Place) {
      return launch(lane_counters_kernel<Tiles, has_values, Place, T, O>,
                    {.grid = places.tiles < most ? places.tiles : most,
                     .block = Tiles::block,
                     .shared_bytes = sizeof(LaneTilesMemory<Place, Tiles, T, has_values>),
                     .overlap = true,
                     .stream = a.stream},
                    a.in, a.keys, a.values, places, next_tile, T(0));
    };
    // With values the wider places cost 1 %, which saves half of the kernels to compile.
    if constexpr (emulated)
      return by_place(0u);
    else if constexpr (has_values)
      return by_place(std::uint64_t(0));
    else
      return wide(a.in.n) ? by_place(std::uint64_t(0)) : by_place(0u);
  }
};

}  // namespace upsweep::ladders::partition
