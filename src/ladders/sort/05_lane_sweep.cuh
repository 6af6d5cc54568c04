// sort/lane_sweep: one kernel per digit, with the ranks and tiles of partition/lane_counters.
//
// A block of onesweep_8bit has one tile: it waits for its keys, ranks them by ballots, waits for the tiles before it,
// and writes runs of 24 keys. Here a block stays and draws tiles. The next one's keys arrive while this one is written;
// ranks are bytes that a lane has to itself; tiles are large, with runs of 45 keys; and while a tile waits for others,
// the second block of the multiprocessor ranks its own. Few keys are few tiles, which all begin together: then tiles
// are small, their ranks come from counters of a warp's own, and their offsets from sums of groups instead of a
// look-back.
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
  const multisplit::TileQueue queue{next_tile, sweep.tiles_of_portion(), sweep.first_tile()};
  const unsigned first_tile = threadIdx.x == 0 ? queue.draw() : 0;  // on its way while the pass is looked up
  const auto pass = sweep.template pass<Lookup>(d);
  if (pass.skipped) {
    if (threadIdx.x == 0) queue.leave(first_tile);
    return;
  }
  pass.with_input([&](const auto& in) {
    multisplit::partition_in_tiles<Tiles>(m, in, pass.out, pass.values, pass.lookup, queue, first_tile, opaque_zero,
                                          pass.codec);
  });
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

// Up to so many keys, tiles have 2048 keys: for 2^17 30.4 us instead of the 32 that other tiles take. Up to twice or
// four times as many, 4096: 36.9 us for 2^18 keys and 43.4 for 2^19, where 2048 take 50.8 and 67.9.
inline constexpr std::size_t max_in_small = emulated ? 1 << 12 : 1 << 17, max_in_medium = 4 * max_in_small;

// Where large tiles would leave multiprocessors without any, lanes have half of the keys, or tiles are small.
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
          "this rung has blocks of 192 threads, of 256 for few keys, of 384 for many with values"};
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
  static constexpr Story story{
      .idea = "onesweep_8bit with ranks by bytes of a lane's own and tiles of 46 KB, the next one fetched meanwhile",
      .prediction = "four passes of 950 us and 290 us to count: 1.3 times CUB",
      .guarantees = "stable",
      .limits = "keys from 2 bytes, values up to 8 (of 2-byte keys 4), n below 2^32; block size fixed",
      .source = "Merrill, Grimshaw, 2011; Adinets, Merrill, Onesweep, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest = 0xffffffff;
  template <class T, class O>
  static constexpr bool supports = sizeof(T) > 1;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return lane_passes<OrderOf<T>>(a);
  }
};

// For hybrid too.
template Status lane_passes(const KeyArgs<KeyOrder<std::uint32_t>>&, const BucketSort<KeyOrder<std::uint32_t>>*);
#if !defined(UPSWEEP_GPU_ONE_TYPE)
template Status lane_passes(const KeyArgs<KeyOrder<std::uint16_t>>&, const BucketSort<KeyOrder<std::uint16_t>>*);
template Status lane_passes(const KeyArgs<KeyOrder<std::uint64_t>>&, const BucketSort<KeyOrder<std::uint64_t>>*);
template Status lane_passes(const KeyArgs<FloatKeyOrder<std::uint32_t>>&,
                            const BucketSort<FloatKeyOrder<std::uint32_t>>*);
template Status lane_passes(const KeyArgs<FloatKeyOrder<std::uint64_t>>&,
                            const BucketSort<FloatKeyOrder<std::uint64_t>>*);
#endif

}  // namespace upsweep::ladders::sort
