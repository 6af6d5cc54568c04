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
// therefore counts tile by tile. The closer, the better, because two tiles share the sector between their runs: blocks
// that are ahead wait a little.
//
// Traffic   keys read twice and written once, values read and written once; 4 bytes per tile and bucket written and
//           read; 12 bytes per bucket and chunk of tiles, likewise.
// Order     stable.
// Source    Merrill, Grimshaw, 2011 (a thread's own counters); Stehle, Jacobsen, A Memory Bandwidth-Efficient Hybrid
//           Radix Sort on GPUs, 2017 (large tiles).
#pragma once
#include "kernel/run_rung.h"
#include "ladders/partition/lane_partition.cuh"
#include "ladders/partition/tile_places.cuh"

namespace upsweep::ladders::partition {

// `next_tile` is 0, and left so; `nothing` is 0, as LaneRanks wants it.
template <class Tiles, bool has_values, class Place, class T, class O>
__global__ void __launch_bounds__(Tiles::block, Tiles::blocks_per_sm)
    lane_counters_kernel(Input<T, O> in, T* out, Values values, TilePlaces places, unsigned* next_tile, T nothing) {
  auto& m = *dynamic_shared<LaneTilesMemory<Place, Tiles, T, has_values, TilePlaces>>();
  allow_next_launch();
  wait_for_previous();
  const TileQueue queue{next_tile, places.tiles};
  const unsigned first_tile = threadIdx.x == 0 ? queue.draw() : 0;
  partition_in_tiles<Tiles>(m, in, out, values, places, queue, first_tile, nothing, AsTheyAre{});
}

struct two_passes;
extern const Rung kernel_two_passes_rung;
struct overlapped_writes;
extern const Rung kernel_overlapped_writes_rung;

struct lane_counters {
  static constexpr Needs needs = lane_counters_needs;
  static constexpr Story story{
      .idea = "ranks by bytes that one lane has to itself; large tiles, the next one fetched meanwhile",
      .prediction = "20 shared-memory wavefronts per 32 keys: 0.65 of the copy ceiling on 12 bytes, whatever the skew",
      .guarantees = "stable",
      .limits = "up to 256 buckets, else overlapped_writes, or two_passes for large values; any n; block size fixed",
      .source = "Merrill, Grimshaw, 2011; Stehle, Jacobsen, 2017"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static bool delegates(const Args<T, O>& a) {
    return a.in.buckets.count > most_counted;
  }
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if constexpr (!requires { Buckets<T, O>::is_field; })  // which two_passes leaves to this rung
      if (delegates(a))
        return one_pass_pays(a) ? run_rung<overlapped_writes, kernel_overlapped_writes_rung>(a)
                                : run_rung<two_passes, kernel_two_passes_rung>(a);
    switch (a.values.bytes) {
      case 0:
        return by_size<0, 6>(a);
      case 4:
        return by_size<4, 12>(a);
      case 8:
        return by_size<8, 12>(a);
      default:
        return start<LaneTiles<T, 16, 12>, true>(a);
    }
  }

 private:
  // More than 256 buckets in one pass or in two. With values, a tile has half as many keys for as many open ends in the
  // output: 2^28 pairs of 4 and 4 bytes into 2048 buckets take 4157 us in one pass and 3275 in two, into 512 2395 and
  // 3199; 2^22 into 2048, which L2 holds, 92 and 138. Values of 8 and 16 bytes lose, 2978 and 2202 us for 2^27 of 8.
  // Few keys alone have small tiles in both passes: 2^16 keys into 2048 buckets take 25.5 us in one and 23.7 in two.
  static constexpr std::size_t most_of_two_passes = 1 << 17;
  template <class T, class O>
  static bool one_pass_pays(const Args<T, O>& a) {
    if (a.values.bytes == 0) return emulated || a.in.n > most_of_two_passes;
    return sizeof(T) == 4 && a.values.bytes == 4 && (a.in.buckets.count <= 512 || a.in.n <= std::size_t(1) << 22);
  }
  // Keys alone have two blocks per multiprocessor, one of which moves memory while the other ranks. With values one is
  // faster, if there are tiles for all: they are twice as large, so runs are longer, and fewer sectors wait in L2 for
  // their other half (docs/notes/partition.md). Tiles that would leave multiprocessors without one have half as many
  // keys: 2^16, 2^18, 2^20 pairs of 4 and 4 bytes take 11.5, 13.5, 19.4 us for 18.7, 19.5, 22.9. With 8 bytes they were
  // half as large already: 2^16 and 2^18 u64 keys take 10.0 and 13.4 us for 11.7 and 12.5.
  template <unsigned value_bytes, unsigned warps, class T, class O>
  static Status by_size(const Args<T, O>& a) {
    constexpr bool has_values = value_bytes > 0;
    using Large = LaneTiles<T, value_bytes, warps>;
    using Medium = LaneTiles<T, value_bytes, 6>;
    using Small = LaneTiles<T, value_bytes, 6, 7>;
    const std::size_t multiprocessors = machine().multiprocessors;
    constexpr unsigned quarters = Small::widest == 4 ? 8 : 2;  // of a tile, per multiprocessor
    const std::size_t most_small = emulated ? Medium::tile : multiprocessors * Small::tile * quarters / 4;
    const bool large = a.tuning.block ? a.tuning.block == Large::block : a.in.n >= multiprocessors * Large::tile;
    if (warps > Medium::warps && large) return start<Large, has_values>(a);
    return a.in.n <= most_small ? start<Small, has_values, /*few=*/true>(a) : start<Medium, has_values>(a);
  }
  // `few`: places have 32 bits.
  template <class Tiles, bool has_values, bool few = false, class T, class O>
  static Status start(const Args<T, O>& a) {
    if (a.tuning.block && a.tuning.block != Tiles::block)
      return {Code::unsupported, 0, "this rung has blocks of 192 threads, and of 384 for values"};
    TilePlaces places;
    if (Status s = find_tile_places<Tiles::tile>(a, places); !s || a.in.n == 0) return s;
    unsigned* const next_tile = a.workspace->counters(1);
    if (!next_tile) return no_memory;
    const unsigned most = a.tuning.grid_or(Tiles::blocks_per_sm * std::size_t(machine().multiprocessors));
    const auto by_place = [&]<class Place>(Place) {
      return launch(lane_counters_kernel<Tiles, has_values, Place, T, O>,
                    {.grid = places.tiles < most ? places.tiles : most,
                     .block = Tiles::block,
                     .shared_bytes = sizeof(LaneTilesMemory<Place, Tiles, T, has_values, TilePlaces>),
                     .overlap = true,
                     .stream = a.stream},
                    a.in, a.keys, a.values, places, next_tile, T(0));
    };
    // With values the wider places cost 1 %, which saves half of the kernels to compile.
    if constexpr (emulated || few)
      return by_place(0u);
    else if constexpr (has_values)
      return by_place(std::uint64_t(0));
    else
      return wide(a.in.n) ? by_place(std::uint64_t(0)) : by_place(0u);
  }
};

}  // namespace upsweep::ladders::partition
