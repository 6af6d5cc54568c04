// sort/match_sweep: one kernel per digit, with match-any ranking in shared memory and the next tile's keys in flight.
//
// In onesweep_8bit a warp takes eight ballots per 32 keys, and its bucket counters are 16 words apart, so its lanes
// conflict on two of the 32 banks. Here lanes with the same bucket find each other by one atomic OR into the bucket's
// lane mask, and a warp's counters are adjacent. Blocks are persistent: each loads the next tile's keys into registers
// while it writes the current tile. The kernel runs on compute capability 7.5 and above.
//
// Traffic   as onesweep_8bit.
// Order     stable.
// Source    Adinets, Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022 (match-any by
//           atomics).
#pragma once
#include "kernel/multisplit/loaded_tiles.h"
#include "kernel/multisplit/lookback.h"
#include "kernel/multisplit/tile_partition.h"
#include "ladders/sort/choose.h"
#include "ladders/sort/sweep.cuh"

namespace upsweep::ladders::sort {

template <class Tiles, class Lookup, bool has_values, class K, bool is_float>
__global__ void __launch_bounds__(Tiles::block, Tiles::blocks_per_sm)
    match_sweep_kernel(Sweep<K, is_float> sweep, unsigned d, unsigned* next_tile) {
  auto& m = *dynamic_shared<multisplit::LoadedTilesMemory<unsigned, Tiles, K, has_values, Lookup>>();
  allow_next_launch();
  wait_for_previous();
  const auto partition = [&](const auto& pass, const auto& in, const auto& queue, unsigned first_tile) {
    multisplit::partition_loaded_tiles<Tiles>(m, in, pass.out, pass.values, pass.lookup, queue, first_tile, pass.codec);
  };
  with_pass_and_tiles<Lookup>(sweep, d, next_tile, partition);
}

template <class Tiles, class Lookup, bool has_values, class Order>
Status start_match_passes(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort) {
  using Key = typename Order::Key;
  using Memory = multisplit::LoadedTilesMemory<unsigned, Tiles, Key, has_values, Lookup>;
  if (a.tuning.block && a.tuning.block != Tiles::block)
    return {Code::unsupported, 0, "this rung runs only in blocks of 256 threads"};
  return sweep_digits<Lookup>(a, bucket_sort, Tiles::tile,
                              [&](const SweepOf<Order>& sweep, unsigned d, unsigned* next) {
                                return multisplit::launch_persistent<Tiles, Memory>(
                                    match_sweep_kernel<Tiles, Lookup, has_values, Key, Order::merges>, a,
                                    sweep.tiles_of_portion(), sweep, d, next);
                              });
}

// Maximum keys for small tiles, all of which start together. On an H200 with code for compute capability 8.0, small
// tiles take 40.7 us for 2^18 keys and 65.0 us for 2^20, large tiles 44.0 and 54.9 us.
inline constinit Threshold max_in_small_loaded{"max_in_small_loaded", 3 << 17, 1 << 12};

template <class Order>
Status match_passes(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort) {
  using Key = typename Order::Key;
  return by_value_bytes(a, [&]<unsigned bytes>() {
    using Small = multisplit::SmallLoadedTiles<Key, bytes>;
    using Large = multisplit::LargeLoadedTiles<Key, bytes>;
    constexpr bool has_values = bytes > 0;
    if (a.n <= max_in_small_loaded)
      return start_match_passes<Small, multisplit::TileGroups, has_values>(a, bucket_sort);
    return start_match_passes<Large, multisplit::TileLookback, has_values>(a, bucket_sort);
  });
}

struct match_sweep {
  static constexpr Needs needs = match_sweep_needs;
  static constexpr Threshold* thresholds[] = {&portion_keys, &max_in_small_loaded};
  static constexpr Story story{
      .idea = "onesweep_8bit with match-any ranking in shared memory, and the next tile's keys loaded ahead",
      .prediction = "7 cycles to rank 32 keys instead of 27, and 17 wavefronts instead of 45: twice onesweep_8bit",
      .guarantees = "stable",
      .limits = "keys of 2 bytes or more, values up to 8 (4 with 2-byte keys), n below 2^32; blocks of 256 threads",
      .source = "Adinets, Merrill, Onesweep, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t tile_bytes = multisplit::LargeLoadedTiles<std::uint32_t, 0>::bytes;
  static constexpr std::size_t largest = 0xffffffff;
  template <class T, class O>
  static constexpr bool supports = sizeof(T) > 1;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return match_passes<OrderOf<T>>(a);
  }
};

// Also used by hybrid.
template Status match_passes(const KeyArgs<KeyOrder<std::uint32_t>>&, const BucketSort<KeyOrder<std::uint32_t>>*);
#if !defined(UPSWEEP_GPU_ONE_TYPE)
template Status match_passes(const KeyArgs<KeyOrder<std::uint16_t>>&, const BucketSort<KeyOrder<std::uint16_t>>*);
template Status match_passes(const KeyArgs<KeyOrder<std::uint64_t>>&, const BucketSort<KeyOrder<std::uint64_t>>*);
template Status match_passes(const KeyArgs<FloatKeyOrder<std::uint16_t>>&,
                             const BucketSort<FloatKeyOrder<std::uint16_t>>*);
template Status match_passes(const KeyArgs<FloatKeyOrder<std::uint32_t>>&,
                             const BucketSort<FloatKeyOrder<std::uint32_t>>*);
template Status match_passes(const KeyArgs<FloatKeyOrder<std::uint64_t>>&,
                             const BucketSort<FloatKeyOrder<std::uint64_t>>*);
#endif

}  // namespace upsweep::ladders::sort
