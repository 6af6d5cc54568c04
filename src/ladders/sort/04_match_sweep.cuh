// sort/match_sweep: one kernel per digit, with ranks by match-any in shared memory and a tile's keys loaded ahead.
//
// In onesweep_8bit a warp takes eight ballots for 32 keys, and the counters of its keys' buckets are 16 words apart, so
// that its lanes queue for two of the 32 banks. Here lanes with the same bucket find each other by one atomic addition
// to the bucket's set of lanes, and a warp's counters are neighbours. A block stays, and loads the next tile's keys into
// registers while this one is written. It needs nothing that GPUs of compute capability 7.5 lack.
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
  const multisplit::TileQueue queue{next_tile, sweep.tiles_of_portion(), sweep.first_tile()};
  const unsigned first_tile = threadIdx.x == 0 ? queue.draw() : 0;  // on its way while the pass is looked up
  const auto pass = sweep.template pass<Lookup>(d);
  if (pass.skipped) {
    if (threadIdx.x == 0) queue.leave(first_tile);
    return;
  }
  pass.with_input([&](const auto& in) {
    multisplit::partition_loaded_tiles<Tiles>(m, in, pass.out, pass.values, pass.lookup, queue, first_tile, pass.codec);
  });
}

template <class Tiles, class Lookup, bool has_values, class Order>
Status start_match_passes(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort) {
  using Key = typename Order::Key;
  using Memory = multisplit::LoadedTilesMemory<unsigned, Tiles, Key, has_values, Lookup>;
  if (a.tuning.block && a.tuning.block != Tiles::block)
    return {Code::unsupported, 0, "this rung has blocks of 256 threads"};
  return sweep_digits<Lookup>(a, bucket_sort, Tiles::tile, [&](const SweepOf<Order>& sweep, unsigned d, unsigned* next) {
    return multisplit::launch_persistent<Tiles, Memory>(match_sweep_kernel<Tiles, Lookup, has_values, Key, Order::merges>,
                                                        a, sweep.tiles_of_portion(), sweep, d, next);
  });
}

// Keys up to which tiles are small, and all of them begin at once: 2^18 take 40.7 us, by large tiles 44.0; 2^20 65.0
// and 54.9 (code for 8.0 on an H200).
inline constexpr std::size_t max_in_small_loaded = emulated ? 1 << 12 : 3 << 17;

template <class Order>
Status match_passes(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort) {
  using Key = typename Order::Key;
  return by_value_bytes(a, [&]<unsigned bytes>() {
    using Small = multisplit::SmallLoadedTiles<Key, bytes>;
    using Large = multisplit::LargeLoadedTiles<Key, bytes>;
    constexpr bool has_values = bytes > 0;
    if (a.n <= max_in_small_loaded) return start_match_passes<Small, multisplit::TileGroups, has_values>(a, bucket_sort);
    return start_match_passes<Large, multisplit::TileLookback, has_values>(a, bucket_sort);
  });
}

struct match_sweep {
  static constexpr Needs needs = match_sweep_needs;
  static constexpr Story story{
      .idea = "onesweep_8bit with ranks by match-any in shared memory, and the next tile's keys loaded ahead",
      .prediction = "7 cycles to rank 32 keys instead of 27, and 17 wavefronts instead of 45: twice onesweep_8bit",
      .guarantees = "stable",
      .limits = "keys from 2 bytes, values up to 8 (of 2-byte keys 4), n below 2^32; blocks of 256 threads",
      .source = "Adinets, Merrill, Onesweep, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest = 0xffffffff;
  template <class T, class O>
  static constexpr bool supports = sizeof(T) > 1;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return match_passes<OrderOf<T>>(a);
  }
};

// For hybrid too.
template Status match_passes(const KeyArgs<KeyOrder<std::uint32_t>>&, const BucketSort<KeyOrder<std::uint32_t>>*);
#if !defined(UPSWEEP_GPU_ONE_TYPE)
template Status match_passes(const KeyArgs<KeyOrder<std::uint16_t>>&, const BucketSort<KeyOrder<std::uint16_t>>*);
template Status match_passes(const KeyArgs<KeyOrder<std::uint64_t>>&, const BucketSort<KeyOrder<std::uint64_t>>*);
template Status match_passes(const KeyArgs<FloatKeyOrder<std::uint32_t>>&,
                             const BucketSort<FloatKeyOrder<std::uint32_t>>*);
template Status match_passes(const KeyArgs<FloatKeyOrder<std::uint64_t>>&,
                             const BucketSort<FloatKeyOrder<std::uint64_t>>*);
#endif

}  // namespace upsweep::ladders::sort
