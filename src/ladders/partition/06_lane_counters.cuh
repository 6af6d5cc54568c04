// partition/lane_counters: a lane counts its own keys; tiles are large, and the next one arrives meanwhile.
//
// shared_reorder ranks keys by ballots, four bits of the bucket at a time. Here the ranks for 256 buckets come from
// bytes that only one lane uses (lane_ranks.cuh). Tiles have 46 KB, so that a bucket's run has 45 keys of 4 bytes:
// whole sectors. As soon as the keys' places are known, the counters' memory is free: the copy engine fills it with the
// next tile while this one is written.
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
#include "kernel/async.h"
#include "ladders/partition/05_shared_reorder.cuh"
#include "ladders/partition/lane_ranks.cuh"
#include "ladders/partition/tile_places.cuh"

namespace upsweep::ladders::partition {

// Two blocks of six warps per multiprocessor: 168 registers hold a lane's 60 keys and their places. An odd number of
// packs per lane: 32 lanes that read their first packs use all banks.
template <class T>
struct LaneTiles {
  static constexpr unsigned warps = 6, block = warps * warp_size, packs = 15, keys = packs * Pack<T>::size;  // per lane
  static constexpr unsigned tile = block * keys, bytes = tile * sizeof(T);
  using Ranks = LaneRanks<warps, keys>;
};

// A block's shared memory. Place is the type of places in the output: 64 bits only if there are so many, because a warp
// reads them in two wavefronts.
template <class Place, class T>
struct LaneTilesMemory {
  using Tiles = LaneTiles<T>;
  union {
    typename Tiles::Ranks::Memory ranks;
    struct {
      T sorted[Tiles::tile], staged[Tiles::tile];
    } keys;
  };
  Place place[most_counted];                     // in the output, of a bucket's first key, less its place in the tile
  alignas(8) std::uint16_t start[most_counted];  // a bucket's first place in the tile
  std::uint64_t arrived;                         // mbarrier
  unsigned next;                                 // tile
  std::uint16_t order[Tiles::tile];              // which key of the tile has each place; only if there are values

  static constexpr std::size_t bytes(bool has_values) {
    return sizeof(LaneTilesMemory) - (has_values ? 0 : sizeof(order));
  }
};

// `next_tile` is 0, and left so; `nothing` is 0, as LaneRanks wants it.
template <class Place, class T, class O>
__global__ void __launch_bounds__(LaneTiles<T>::block, 2)
    lane_counters_kernel(Input<T, O> in, T* out, Values values, TilePlaces places, unsigned* next_tile, T nothing) {
  using Tiles = LaneTiles<T>;
  using Memory = LaneTilesMemory<Place, T>;
  Memory& m = *dynamic_shared<Memory>();
  constexpr unsigned block = Tiles::block, keys_per_lane = Tiles::keys;
  const unsigned t = threadIdx.x, buckets = in.buckets.count;
  const auto first_of = [](unsigned tile) { return std::size_t(tile) * Tiles::tile; };
  const auto size_of_tile = [&](unsigned tile) {
    const std::size_t left = in.n - first_of(tile);
    return left < Tiles::tile ? static_cast<unsigned>(left) : Tiles::tile;
  };
  const auto is_copied = [&](unsigned tile) {
    return reinterpret_cast<std::uintptr_t>(in.keys) % 16 == 0 && size_of_tile(tile) == Tiles::tile;
  };
  const auto fetch = [&](unsigned tile) {  // by one thread
    if (tile >= places.tiles || !is_copied(tile)) return;
    mbarrier_arrive_expect(&m.arrived, Tiles::bytes);
    bulk_copy(m.keys.staged, in.keys + first_of(tile), Tiles::bytes, &m.arrived);
  };
  // Tiles are drawn, so that those in work stay close together.
  const auto draw = [&] {  // by one thread
    const unsigned drawn = atomicAdd(next_tile, 1u);
    if (drawn == places.tiles + gridDim.x - 1) *next_tile = 0;
    return drawn;
  };
  if (t == 0) {
    mbarrier_init(&m.arrived, 1);
    m.next = draw();
    fetch(m.next);
  }
  __syncthreads();
  unsigned parity = 0;
  for (unsigned tile = m.next; tile < places.tiles; tile = m.next) {
    const unsigned following = t == 0 ? draw() : 0;  // while this tile is in work
    const unsigned size = size_of_tile(tile);
    const std::size_t first = first_of(tile);
    // 1. The lane's keys. Those past the end belong to the last bucket, and being last they come after all others.
    if (is_copied(tile)) {
      mbarrier_wait(&m.arrived, parity);
      parity ^= 1;
    } else {
      for (unsigned i = t; i < Tiles::tile; i += block) m.keys.staged[i] = i < size ? in.keys[first + i] : T(~T(0));
      __syncthreads();
    }
    T keys[keys_per_lane];
#pragma unroll
    for (unsigned k = 0; k < Tiles::packs; ++k) {
      const Pack<T> pack = load_plain_pack(m.keys.staged + (t * Tiles::packs + k) * Pack<T>::size);
#pragma unroll
      for (unsigned i = 0; i < Pack<T>::size; ++i) keys[k * Pack<T>::size + i] = pack.item[i];
    }
    // 2. Their places in the tile.
    unsigned place[keys_per_lane / 2];
    Tiles::Ranks::place(m.ranks, keys, in.buckets, nothing, place, m.start);
    if (t == 0) fetch(following);
    // 3. The tile by bucket, and where its buckets belong.
    const auto place_of = [&](unsigned k) { return place[k / 2] >> k % 2 * 16 & 0xffff; };
    Place to[most_counted / block + 1];
#pragma unroll
    for (unsigned j = 0; j <= most_counted / block; ++j)
      if (const unsigned b = j * block + t; b < buckets) to[j] = places.first<Place>(tile, b);
#pragma unroll
    for (unsigned k = 0; k < keys_per_lane; ++k) m.keys.sorted[place_of(k)] = keys[k];
    if (values.bytes)
#pragma unroll
      for (unsigned k = 0; k < keys_per_lane; ++k)
        m.order[place_of(k)] = static_cast<std::uint16_t>(t * keys_per_lane + k);
#pragma unroll
    for (unsigned j = 0; j <= most_counted / block; ++j)
      if (const unsigned b = j * block + t; b < buckets) m.place[b] = to[j] - m.start[b];
    if (t == 0) m.next = following;
    __syncthreads();
    // 4. Neighbouring places of a bucket to neighbouring ones of the output.
    const auto write = [&](unsigned p) {
      const T key = m.keys.sorted[p];
      const Place at = m.place[in.buckets(key)] + p;
      out[at] = key;
      if (values.bytes) values.move(first + m.order[p], at);
    };
    if (size == Tiles::tile) {
#pragma unroll 6
      for (unsigned k = 0; k < keys_per_lane; ++k) write(k * block + t);
    } else {
      for (unsigned p = t; p < size; p += block) write(p);
    }
  }
}

struct lane_counters {
  static constexpr Story story{
      .idea = "ranks by bytes that one lane has to itself; large tiles, the next one fetched meanwhile",
      .prediction = "20 shared-memory wavefronts per 32 keys: 0.65 of the copy ceiling on 12 bytes, whatever the skew",
      .guarantees = "stable",
      .limits = "up to 256 buckets, else shared_reorder; any n; block size fixed",
      .source = "Merrill, Grimshaw, 2011; Stehle, Jacobsen, 2017"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    using Tiles = LaneTiles<T>;
    if (a.in.buckets.count > most_counted) return shared_reorder::run<T, O>(a);
    if (a.tuning.block && a.tuning.block != Tiles::block)
      return {Code::unsupported, 0, "this rung's blocks have 192 threads"};
    TilePlaces places;
    if (Status s = find_tile_places<Tiles::tile>(a, places); !s) return s;
    unsigned* const next_tile = a.workspace->counters(1);
    if (!next_tile) return no_memory;
    const unsigned most = a.tuning.grid_or(2 * std::size_t(device_limits().multiprocessors));
    const auto by_place = [&]<class Place>(Place) {
      return launch(lane_counters_kernel<Place, T, O>,
                    {.grid = places.tiles < most ? places.tiles : most,
                     .block = Tiles::block,
                     .shared_bytes = LaneTilesMemory<Place, T>::bytes(a.values.bytes > 0),
                     .stream = a.stream},
                    a.in, a.keys, a.values, places, next_tile, T(0));
    };
    if constexpr (!emulated)
      if (wide(a.in.n)) return by_place(std::uint64_t(0));
    return by_place(0u);
  }
};

}  // namespace upsweep::ladders::partition
