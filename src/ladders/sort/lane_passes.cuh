// Sorts by passes over tiles ranked by per-lane byte counters, for lane_sweep and hybrid.
#pragma once
#include "kernel/multisplit/lookback.h"
#include "kernel/multisplit/match_ranks.h"
#include "kernel/multisplit/tile_partition.h"
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

// Up to max_in_small keys, tiles have 2048 keys: 2^17 keys take 30.4 us, with other tiles 32. Up to max_in_medium,
// tiles have 4096: 2^18 keys take 36.9 us and 2^19 take 43.4; with tiles of 2048, 50.8 and 67.9.
inline constinit Threshold max_in_small{"max_in_small", 1 << 17, 1 << 12};
inline constinit Threshold max_in_medium{"max_in_medium", 1 << 19, 1 << 14};

// If large tiles would leave multiprocessors idle, lanes take half as many keys, or tiles are small.
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

}  // namespace upsweep::ladders::sort
