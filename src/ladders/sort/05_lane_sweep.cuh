// sort/lane_sweep: one kernel per digit, with the ranks and tiles of partition/lane_counters.
//
// A block of onesweep_8bit has one tile: it waits for the tile's keys, ranks them by ballots, waits for earlier tiles,
// and writes runs of 24 keys. Here blocks are persistent and draw tiles. The next tile's keys arrive while the current
// tile is written. Ranks come from byte counters private to each lane. Tiles are larger, with runs of 45 keys. While
// one block waits for earlier tiles, the multiprocessor's second block ranks its tile. On a small input all tiles start
// together, so it takes small tiles, per-warp counters, and offsets from sums over groups of tiles, not look-back.
//
// Traffic   keys read once to count all digits, then read and written once per digit; values read and written once per
//           digit; 4 bytes per tile and bucket written twice and read once or more.
// Order     stable.
// Source    Adinets, Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022.
#pragma once
#include "kernel/multisplit/lookback.h"
#include "kernel/multisplit/match_ranks.h"
#include "kernel/multisplit/tile_partition.h"
#include "ladders/sort/choose.h"
#include "ladders/sort/sweep.cuh"

namespace upsweep::ladders::sort {

template <class Tiles, class Lookup, bool has_values, class Offset, class K, bool is_float>
__global__ void __launch_bounds__(Tiles::block, Tiles::blocks_per_sm)
    lane_sweep_kernel(Sweep<K, is_float> sweep, unsigned d, unsigned* next_tile, K opaque_zero) {
  auto& m = *dynamic_shared<multisplit::TilePartitionMemory<Offset, Tiles, K, has_values, Lookup>>();
  allow_next_launch();
  wait_for_previous();
  const auto partition = [&](const auto& pass, const auto& in, const auto& queue, unsigned first_tile) {
    multisplit::partition_in_tiles<Tiles>(m, in, pass.out, pass.values, pass.lookup, queue, first_tile, opaque_zero,
                                          pass.codec);
  };
  with_pass_and_tiles<Lookup>(sweep, d, next_tile, partition);
}

template <class Tiles, class Lookup, bool has_values, class Order>
Status start_lane_passes(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort) {
  using Key = typename Order::Key;
  using Offset = unsigned;
  using Memory = multisplit::TilePartitionMemory<Offset, Tiles, Key, has_values, Lookup>;
  const auto launch_pass = [&](const SweepOf<Order>& sweep, unsigned d, unsigned* next_tile) {
    return multisplit::launch_persistent<Tiles, Memory>(
        lane_sweep_kernel<Tiles, Lookup, has_values, Offset, Key, Order::merges>, a, sweep.tiles_of_portion(), sweep, d,
        next_tile, Key(0));
  };
  return sweep_digits<Lookup>(a, bucket_sort, Tiles::tile, launch_pass);
}

// Maximum keys for tiles of 2048 keys, and for tiles of 4096. Times on an H200:
//   2^17 keys   30.4 us in tiles of 2048, 32 in others
//   2^18        36.9 us in tiles of 4096, 50.8 in tiles of 2048
//   2^19        43.4 us in tiles of 4096, 67.9 in tiles of 2048
inline constinit Threshold max_in_small{"max_in_small", 1 << 17, 1 << 12};
inline constinit Threshold max_in_medium{"max_in_medium", 1 << 19, 1 << 14};

// Starts the passes in large tiles. If these would leave multiprocessors idle, starts them in tiles with half as many
// keys per lane or in small tiles.
template <unsigned value_bytes, unsigned warps, class Order>
Status lane_passes_by_size(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort) {
  using Key = typename Order::Key;
  using Large = multisplit::ThreadTiles<Key, value_bytes, warps>;
  using Middle = multisplit::ThreadTiles<Key, value_bytes, 6, 7>;
  using Medium = multisplit::RowTiles<Key, value_bytes, 16>;
  using Small = multisplit::RowTiles<Key, value_bytes>;
  constexpr bool has_values = value_bytes > 0;
  const std::size_t large = machine().multiprocessors * std::size_t(Large::blocks_per_sm) * Large::tile;
  const auto chosen = [&](unsigned block, bool fits) { return a.tuning.block ? a.tuning.block == block : fits; };
  const auto start = [&]<class Tiles, class Lookup>() {
    return start_lane_passes<Tiles, Lookup, has_values>(a, bucket_sort);
  };
  using multisplit::TileGroups, multisplit::TileLookback;
  if (chosen(Large::block, a.n > large)) return start.template operator()<Large, TileLookback>();
  if (chosen(Small::block, a.n <= max_in_small)) return start.template operator()<Small, TileGroups>();
  if (!a.tuning.block && a.n <= max_in_medium) return start.template operator()<Medium, TileGroups>();
  if (chosen(Middle::block, true)) return start.template operator()<Middle, TileLookback>();
  return {Code::unsupported, 0,
          "this rung's blocks have 192 threads, 256 for small inputs, 384 for large ones with values"};
}

template <class Order>
Status lane_passes(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort) {
  return by_value_bytes(a, [&]<unsigned bytes>() {
    constexpr unsigned warps = bytes == 0 ? 6 : 12;
    return lane_passes_by_size<bytes, warps>(a, bucket_sort);
  });
}

struct lane_sweep {
  static constexpr Needs needs = lane_sweep_needs;
  static constexpr Threshold* thresholds[] = {&portion_keys, &max_in_small, &max_in_medium};
  static constexpr Story story{
      .idea = "onesweep_8bit with per-lane byte counters for ranks, and 46 KB tiles, the next one prefetched",
      .prediction = "four passes of 950 us each, and 290 us to count: 1.3 times CUB",
      .guarantees = "stable",
      .limits = "keys of 2 bytes or more, values up to 8 (4 with 2-byte keys), n below 2^32; block size fixed",
      .source = "Merrill, Grimshaw, 2011; Adinets, Merrill, Onesweep, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t tile_bytes = multisplit::ThreadTiles<std::uint32_t, 0, 6>::bytes;
  static constexpr std::size_t largest = 0xffffffff;
  template <class T, class O>
  static constexpr bool supports = sizeof(T) > 1;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return lane_passes<OrderOf<T>>(a);
  }
};

// Also used by hybrid. Compiled in the three lane_passes_*_unit.cuh, because that takes a long time.
extern template Status lane_passes(const KeyArgs<KeyOrder<std::uint32_t>>&, const BucketSort<KeyOrder<std::uint32_t>>*);
#if !defined(UPSWEEP_GPU_ONE_TYPE)
extern template Status lane_passes(const KeyArgs<KeyOrder<std::uint16_t>>&, const BucketSort<KeyOrder<std::uint16_t>>*);
extern template Status lane_passes(const KeyArgs<KeyOrder<std::uint64_t>>&, const BucketSort<KeyOrder<std::uint64_t>>*);
extern template Status lane_passes(const KeyArgs<FloatKeyOrder<std::uint16_t>>&,
                                   const BucketSort<FloatKeyOrder<std::uint16_t>>*);
extern template Status lane_passes(const KeyArgs<FloatKeyOrder<std::uint32_t>>&,
                                   const BucketSort<FloatKeyOrder<std::uint32_t>>*);
extern template Status lane_passes(const KeyArgs<FloatKeyOrder<std::uint64_t>>&,
                                   const BucketSort<FloatKeyOrder<std::uint64_t>>*);
#endif

}  // namespace upsweep::ladders::sort
