// One stable pass into up to 256 buckets, for lane_counters, lookback and two_passes.
#pragma once
#include "base/threshold.h"
#include "kernel/multisplit/loaded_tiles.h"
#include "kernel/multisplit/lookback.h"
#include "kernel/multisplit/shared_counts.h"
#include "kernel/multisplit/table.h"
#include "kernel/multisplit/tile_partition.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// ---- ranked by per-lane byte counters -------------------------------------------------------------------------------

// `next_tile` is zero on entry and exit; `opaque_zero` is as in ThreadRanks::sort().
template <class Tiles, bool has_values, class Offset, class T, class B>
__global__ void __launch_bounds__(Tiles::block, Tiles::blocks_per_sm)
    lane_counters_kernel(multisplit::BucketedKeys<T, B> in, T* out, Values values, OffsetTable table,
                         unsigned* next_tile, T opaque_zero) {
  auto& m = *dynamic_shared<TilePartitionMemory<Offset, Tiles, T, has_values, OffsetTable>>();
  allow_next_launch();
  wait_for_previous();
  const TileQueue queue{next_tile, table.tiles};
  const unsigned first_tile = threadIdx.x == 0 ? queue.draw() : 0;
  partition_in_tiles<Tiles>(m, in, out, values, table, queue, first_tile, opaque_zero, IdentityCodec{});
}

// Launches the kernels of a pass with this shape of tiles. `few`: offsets fit in 32 bits.
template <class Tiles, bool has_values, bool few = false, class T, class B>
Status start_lane_pass(const multisplit::Task<T, B>& a) {
  if (a.tuning.block && a.tuning.block != Tiles::block)
    return {Code::unsupported, 0, "this rung has blocks of 192 threads, or of 384 with values"};
  Scratch scratch(*a.workspace);
  OffsetTable table;
  if (Status s = make_offset_table<Tiles::tile>(a, scratch, table); !s || a.in.n == 0) return s;
  unsigned* const next_tile = a.workspace->counters(1);
  if (!next_tile) return no_memory;
  const auto by_offset = [&]<class Offset>(Offset) {
    return launch_persistent<Tiles, TilePartitionMemory<Offset, Tiles, T, has_values, OffsetTable>>(
        lane_counters_kernel<Tiles, has_values, Offset, T, B>, a, table.tiles, a.in, a.keys, a.values, table, next_tile,
        T(0));
  };
  // With values, 64-bit offsets cost only 1 %, and using them always halves the number of kernels to compile.
  if constexpr (few)
    return by_offset(0u);
  else if constexpr (has_values)
    return by_offset(std::uint64_t(0));
  else if constexpr (emulated)  // arrays are never that large there: one kernel fewer to compile
    return by_offset(0u);
  else
    return wide(a.in.n) ? by_offset(std::uint64_t(0)) : by_offset(0u);
}

// Maximum keys for small tiles, unless the number of multiprocessors sets a lower limit; unlimited except in checks.
inline constinit Threshold max_in_small_tiles{"max_in_small_tiles", ~0ull, 1 << 13};

// Chooses the tiles of a pass:
//
//   Medium   by default: two blocks per multiprocessor, of which one moves memory while the other ranks.
//   Large    with values, if there is a tile for every multiprocessor: one block per multiprocessor, whose tiles are
//            twice as large, so that runs are longer and fewer partial sectors wait in L2 (docs/notes/partition.md).
//   Small    about half as many keys per tile, if n fills at most two such tiles per multiprocessor: 2^16, 2^18 and
//            2^20 pairs of 4 and 4 bytes take 11.5, 13.5 and 19.4 us, but 18.7, 19.5 and 22.9 us with Medium (H200).
//            With elements of 8 bytes, if n fills at most half a tile per multiprocessor, because larger inputs are
//            slower: 2^16 u64 keys take 10.0 us and 11.7 us with Medium, but 2^18 take 13.4 us and 12.5 us.
template <unsigned value_bytes, unsigned warps, class T, class B>
Status lane_pass_by_size(const multisplit::Task<T, B>& a) {
  constexpr bool has_values = value_bytes > 0;
  using Large = ThreadTiles<T, value_bytes, warps>;
  using Medium = ThreadTiles<T, value_bytes, 6>;
  using Small = ThreadTiles<T, value_bytes, 6, 7>;
  const std::size_t multiprocessors = machine().multiprocessors;
  constexpr unsigned quarters = Small::widest == 4 ? 8 : 2;  // quarters of a tile per multiprocessor
  const std::size_t max_small = std::min<std::size_t>(multiprocessors * Small::tile * quarters / 4, max_in_small_tiles);
  const bool large = a.tuning.block ? a.tuning.block == Large::block : a.in.n >= multiprocessors * Large::tile;
  if (warps > Medium::warps && large) return start_lane_pass<Large, has_values>(a);
  if (a.in.n <= max_small) return start_lane_pass<Small, has_values, /*few=*/true>(a);
  return start_lane_pass<Medium, has_values>(a);
}

template <class T, class B>
Status lane_pass(const multisplit::Task<T, B>& a) {
  return a.values.by_size([&]<unsigned bytes>() {
    if constexpr (bytes == 16)
      return start_lane_pass<ThreadTiles<T, 16, 12>, true>(a);
    else
      return lane_pass_by_size < bytes, bytes == 0 ? 6 : 12 > (a);
  });
}

// ---- on a GPU without the bulk copies, clusters or shared memory for these ------------------------------------------

// Block 0 writes the buckets' offsets and zeroes the counts. All blocks zero the look-back rows of the first launch.
[[maybe_unused]] static __global__ void __launch_bounds__(max_counted)
    starts_kernel(Counter* counts,                                                                     // [max_counted]
                  std::uint64_t* starts,                                                               // [max_counted]
                  Offsets offsets, unsigned buckets, std::size_t n, uint4* rows, std::size_t packs) {  // [packs]
  const unsigned t = threadIdx.x;
  for (std::size_t i = std::size_t(blockIdx.x) * max_counted + t; i < packs; i += std::size_t(gridDim.x) * max_counted)
    rows[i] = uint4{0, 0, 0, 0};
  if (blockIdx.x > 0) return;
  __shared__ Counter warp_totals[warp_size];
  Counter all;
  const Counter start = block_scan(counts[t], Sum{}, warp_totals, all);
  counts[t] = 0;
  starts[t] = start;
  if (t < buckets) offsets.put(t, start);
  if (t == 0) offsets.put(buckets, n);
}

// `next_tile` is zero on entry and exit.
template <class Tiles, bool has_values, class T, class B>
__global__ void __launch_bounds__(Tiles::block, Tiles::blocks_per_sm)
    lookback_kernel(multisplit::BucketedKeys<T, B> in, T* out, Values values, TileLookback lookup,
                    unsigned* next_tile) {
  auto& m = *dynamic_shared<LoadedTilesMemory<std::uint64_t, Tiles, T, has_values, TileLookback>>();
  allow_next_launch();
  wait_for_previous();
  const TileQueue queue{next_tile, lookup.tiles - lookup.first, lookup.first};
  const unsigned first_tile = threadIdx.x == 0 ? queue.draw() : 0;
  partition_loaded_tiles<Tiles>(m, in, out, values, lookup, queue, first_tile, IdentityCodec{});
}

// Maximum keys per launch of lookback_kernel: a tile's word counts fewer than 2^30 keys, so larger inputs take several
// launches.
inline constinit Threshold keys_per_launch{"keys_per_launch", 1 << 29, 1 << 15, {.min = 1 << 15, .max = 1 << 29}};

template <unsigned value_bytes, class T, class B>
Status start_lookback_pass(const multisplit::Task<T, B>& a) {
  using Tiles = LargeLoadedTiles<T, value_bytes>;
  constexpr bool has_values = value_bytes > 0;
  if (a.tuning.block && a.tuning.block != Tiles::block)
    return {Code::unsupported, 0, "this rung has blocks of 256 threads"};
  const auto tiles = static_cast<unsigned>(ceil_div(a.in.n, Tiles::tile));
  const auto per_launch = static_cast<unsigned>(keys_per_launch / Tiles::tile);
  const unsigned rows = tiles < per_launch ? tiles : per_launch;
  const std::size_t row_words = std::size_t(rows) * max_counted;
  // The bucket offsets and the look-back rows of the current launch and of the next one.
  Scratch scratch(*a.workspace);
  auto* const starts = scratch.take<std::uint64_t>(2 * max_counted);
  auto* const words = scratch.take<unsigned>(2 * row_words);
  auto* const counts =
      reinterpret_cast<Counter*>(a.workspace->counters(max_counted * sizeof(Counter) / sizeof(unsigned) + 1));
  if (!scratch || !counts) return no_memory;
  auto* const next_tile = reinterpret_cast<unsigned*>(counts + max_counted);
  if (Status s = count_by_blocks(a, resident_shape(a, 1024, 8), counts); !s) return s;
  if (Status s =
          launch(starts_kernel, {.grid = persistent_grid(rows), .block = max_counted, .stream = a.stream}, counts,
                 starts, a.offsets, a.in.buckets.count, a.in.n, reinterpret_cast<uint4*>(words), row_words / 4);
      !s)
    return s;
  for (unsigned first = 0, odd = 0; first < tiles; first += per_launch, odd ^= 1) {
    const unsigned end = tiles - first < per_launch ? tiles : first + per_launch;
    const TileLookback lookup{{first, end, starts + odd * max_counted, starts + (1 - odd) * max_counted,
                               words + odd * row_words, words + (1 - odd) * row_words, rows}};
    if (Status s = launch_persistent<Tiles, LoadedTilesMemory<std::uint64_t, Tiles, T, has_values, TileLookback>>(
            lookback_kernel<Tiles, has_values, T, B>, a, end - first, a.in, a.keys, a.values, lookup, next_tile);
        !s)
      return s;
  }
  return {};
}

template <class T, class B>
Status lookback_pass(const multisplit::Task<T, B>& a) {
  return a.values.by_size([&]<unsigned bytes>() { return start_lookback_pass<bytes>(a); });
}

// Passes by a digit are compiled once, in passes_unit.cuh.
extern template Status lane_pass(const Args<std::uint32_t, By<Bucketing::digit>>&);
extern template Status lane_pass(const Args<std::uint64_t, By<Bucketing::digit>>&);
extern template Status lookback_pass(const Args<std::uint32_t, By<Bucketing::digit>>&);
extern template Status lookback_pass(const Args<std::uint64_t, By<Bucketing::digit>>&);

}  // namespace upsweep::ladders::partition
