// partition/lookback: a tile learns from the tiles before it where its keys go.
//
// shared_reorder counts every share and scans the counts before it moves a key, and its shares write all over the
// output. How many keys a bucket has does not depend on tiles: one kernel counts that. Then a single kernel moves the
// keys. A block draws the next tile, ranks it, and publishes its counts; then it looks back over the tiles before,
// adding up their counts until it finds a sum of all that came before, and publishes its own sum. Blocks stay, and the
// next tile arrives while this one is written. The tiles in work are neighbours, and so are their offsets in a bucket.
//
// Keys are still read twice: no key's offset is known before the buckets' totals are. What is gone is the table of
// counts of all shares, and its scan.
//
// Traffic   keys read twice and written once, values read and written once; 4 bytes per tile and bucket, set to 0,
//           written twice and read once or more.
// Order     stable.
// Source    Merrill, Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016; Adinets, Merrill,
//           Onesweep, 2022.
#pragma once
#include "kernel/multisplit/lookback.h"
#include "kernel/multisplit/match_ranks.h"
#include "kernel/multisplit/tile_partition.h"
#include "ladders/partition/shared_counts.cuh"

namespace upsweep::ladders::partition {

// Block 0: where each bucket begins; leaves the counts zero. All blocks: the first launch's rows.
static __global__ void __launch_bounds__(max_counted)
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

// `next_tile` is 0, and left so; `opaque_zero` is 0.
template <class Tiles, bool has_values, class T, class O>
__global__ void __launch_bounds__(Tiles::block, Tiles::blocks_per_sm)
    lookback_kernel(Input<T, O> in, T* out, Values values, TileLookback lookup, unsigned* next_tile, T opaque_zero) {
  auto& m = *dynamic_shared<TilePartitionMemory<std::uint64_t, Tiles, T, has_values, TileLookback>>();
  const TileQueue queue{next_tile, lookup.tiles - lookup.first, lookup.first};
  const unsigned first_tile = threadIdx.x == 0 ? queue.draw() : 0;
  partition_in_tiles<Tiles>(m, in, out, values, lookup, queue, first_tile, opaque_zero, IdentityCodec{});
}

struct lookback {
  static constexpr Needs needs{{Feature::bulk_copy}, 77'328};
  static constexpr Story story{
      .idea = "the buckets' totals counted first; then one kernel, whose tiles find their offsets by look-back",
      .prediction =
          "250 us to count; 27 cycles of ballots and 20 wavefronts per 32 keys: 2 to 2.5 ms for 2^28 u32 keys, "
          "twice shared_reorder's speed",
      .guarantees = "stable",
      .limits = "up to 256 buckets and values of 8 bytes; any n; blocks of 256 threads",
      .source = "Merrill, Garland, 2016; Adinets, Merrill, Onesweep, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.buckets.count > max_counted || a.values.bytes > 8)
      return {Code::unsupported, 0, "this rung has up to 256 buckets, and values of up to 8 bytes"};
    return a.values.bytes == 0 ? start<0>(a) : a.values.bytes == 4 ? start<4>(a) : start<8>(a);
  }

 private:
  // A word of a tile counts less than 2^30 keys, so more of them take several launches.
  static constexpr std::size_t launch_keys = emulated ? 1 << 15 : 1 << 29;

  template <unsigned value_bytes, class T, class O>
  static Status start(const Args<T, O>& a) {
    using Tiles = RowTiles<T, value_bytes, BallotRanks, 16>;
    constexpr bool has_values = value_bytes > 0;
    if (a.tuning.block && a.tuning.block != Tiles::block)
      return {Code::unsupported, 0, "this rung has blocks of 256 threads"};
    const auto tiles = static_cast<unsigned>(ceil_div(a.in.n, Tiles::tile));
    constexpr auto per_launch = static_cast<unsigned>(launch_keys / Tiles::tile);
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
    const unsigned blocks = a.tuning.grid_or(Tiles::blocks_per_sm * std::size_t(machine().multiprocessors));
    for (unsigned first = 0, odd = 0; first < tiles; first += per_launch, odd ^= 1) {
      const unsigned end = tiles - first < per_launch ? tiles : first + per_launch;
      const TileLookback lookup{{first, end, starts + odd * max_counted, starts + (1 - odd) * max_counted,
                                 words + odd * row_words, words + (1 - odd) * row_words, rows}};
      const Shape shape{.grid = end - first < blocks ? end - first : blocks,
                        .block = Tiles::block,
                        .shared_bytes = sizeof(TilePartitionMemory<std::uint64_t, Tiles, T, has_values, TileLookback>),
                        .stream = a.stream};
      if (Status s =
              launch(lookback_kernel<Tiles, has_values, T, O>, shape, a.in, a.keys, a.values, lookup, next_tile, T(0));
          !s)
        return s;
    }
    return {};
  }
};

}  // namespace upsweep::ladders::partition
