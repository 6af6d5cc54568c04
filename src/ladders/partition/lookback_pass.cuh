// lookback, and the passes of two_passes on GPUs without bulk copies, clusters or the shared memory for lane_pass.cuh.
#pragma once
#include "kernel/multisplit/loaded_tiles.h"
#include "kernel/multisplit/lookback.h"
#include "kernel/multisplit/tile_partition.h"
#include "ladders/partition/shared_counts.cuh"

namespace upsweep::ladders::partition {

// Block 0: where each bucket begins; leaves the counts zero. All blocks: the first launch's rows.
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

// `next_tile` is 0, and left so.
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

// A word of a tile counts less than 2^30 keys, so more of them take several launches.
inline constexpr std::size_t lookback_launch_keys = emulated ? 1 << 15 : 1 << 29;

template <unsigned value_bytes, class T, class B>
Status start_lookback_pass(const multisplit::Task<T, B>& a) {
  using Tiles = LargeLoadedTiles<T, value_bytes>;
  constexpr bool has_values = value_bytes > 0;
  if (a.tuning.block && a.tuning.block != Tiles::block)
    return {Code::unsupported, 0, "this rung has blocks of 256 threads"};
  const auto tiles = static_cast<unsigned>(ceil_div(a.in.n, Tiles::tile));
  constexpr auto per_launch = static_cast<unsigned>(lookback_launch_keys / Tiles::tile);
  const unsigned rows = tiles < per_launch ? tiles : per_launch;
  const std::size_t row_words = std::size_t(rows) * max_counted;
  // The offsets of the buckets in a launch and in the next, and the rows of both.
  auto* const starts = static_cast<std::uint64_t*>(
      a.workspace->scratch(2 * max_counted * sizeof(std::uint64_t) + 2 * row_words * sizeof(unsigned)));
  auto* const counts =
      reinterpret_cast<Counter*>(a.workspace->counters(max_counted * sizeof(Counter) / sizeof(unsigned) + 1));
  if (!starts || !counts) return no_memory;
  auto* const words = reinterpret_cast<unsigned*>(starts + 2 * max_counted);
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

// Passes by a digit are compiled once, in digit_passes_unit.cuh.
extern template Status lookback_pass(const Args<std::uint32_t, By<Bucketing::digit>>&);
extern template Status lookback_pass(const Args<std::uint64_t, By<Bucketing::digit>>&);

}  // namespace upsweep::ladders::partition
