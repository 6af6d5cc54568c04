// Sorts by passes over tiles ranked by ballots, one tile per block.
#pragma once
#include "kernel/block.h"
#include "kernel/multisplit/concepts.h"
#include "ladders/sort/sweep.cuh"

namespace upsweep::ladders::sort {

// A tile has 16 warps of 12 rows: 6144 keys, on average 24 per bucket. `FoundBy` is the policy by which a tile finds
// its offsets.
inline constexpr unsigned sweep_warps = 16, sweep_block = sweep_warps * warp_size;
template <class K, multisplit::TileOffsets FoundBy = multisplit::TileLookback, unsigned rows_per_warp = 12>
struct SweepTile {
  using Lookup = FoundBy;
  static constexpr unsigned rows = rows_per_warp, size = sweep_block * rows;
  // Position of this thread's key r in the unsorted tile.
  static __device__ unsigned element(unsigned r) {
    return (threadIdx.x / warp_size * rows + r) * warp_size + threadIdx.x % warp_size;
  }
  K keys[size];                                  // by bucket
  std::uint16_t from[size];                      // position of each key in the unsorted tile
  unsigned counts[digit_values * sweep_warps];   // counts per bucket and warp; then starts in the tile
  alignas(8) std::uint16_t start[digit_values];  // of each bucket, in the tile
  std::uint64_t offset[digit_values];  // output offset of a bucket's first key, minus its position in the tile
  typename Lookup::Memory lookup;
  unsigned warp_totals[warp_size], tile;
};

// Block-wide: partitions one tile by the digits of `in`.
template <class Tile, class K, class Digit, class ThePass>
__device__ __forceinline__ void sweep_tile(Tile& m, const multisplit::BucketedKeys<K, Digit>& in, const ThePass& pass,
                                           unsigned* next_tile) {
  const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size, lower_lanes = (1u << lane) - 1;
  const K past = pass.codec.read_as(in.buckets.last_key());
  // 1. Draw a tile. Tiles are drawn in order, so every tile that this one waits for has been drawn.
  if (t == 0) {
    const unsigned drawn = atomicAdd(next_tile, 1u);
    if (drawn == gridDim.x - 1) *next_tile = 0;
    m.tile = pass.lookup.first + drawn;
  }
  for (unsigned c = t; c < digit_values * sweep_warps; c += sweep_block) m.counts[c] = 0;
  pass.lookup.prepare(m.lookup);
  __syncthreads();
  const std::size_t first = std::size_t(m.tile) * Tile::size, left = in.n - first;
  const unsigned size = left < Tile::size ? static_cast<unsigned>(left) : Tile::size;
  // 2. Rank each key among its warp's keys of the same bucket: lanes with the same digit find each other by ballots.
  K keys[Tile::rows];
  unsigned ranks[Tile::rows];
#pragma unroll
  for (unsigned r = 0; r < Tile::rows; ++r)
    keys[r] = Tile::element(r) < size ? in.keys[first + Tile::element(r)] : past;
#pragma unroll
  for (unsigned r = 0; r < Tile::rows; ++r) keys[r] = pass.codec.encode(keys[r]);
#pragma unroll
  for (unsigned r = 0; r < Tile::rows; ++r) {
    const unsigned digit = in.buckets(keys[r]);
    unsigned peers = all_lanes;
#pragma unroll
    for (unsigned b = 0; b < digit_bits; ++b) {
      const bool is_set = digit >> b & 1;
      const unsigned votes = __ballot_sync(all_lanes, is_set);
      peers &= is_set ? votes : ~votes;
    }
    const unsigned before = static_cast<unsigned>(__popc(peers & lower_lanes));
    unsigned& count = m.counts[digit * sweep_warps + warp];
    ranks[r] = count + before;
    __syncwarp();
    if (before == 0) count += static_cast<unsigned>(__popc(peers));
    __syncwarp();
  }
  __syncthreads();
  // 3. Find where each warp's keys of each bucket start in the tile.
  constexpr unsigned each = digit_values * sweep_warps / sweep_block;
  unsigned own[each], sum = 0, total;
#pragma unroll
  for (unsigned k = 0; k < each; ++k) sum += own[k] = m.counts[t * each + k];
  unsigned start = block_scan(sum, Sum{}, m.warp_totals, total);
#pragma unroll
  for (unsigned k = 0; k < each; ++k) {
    m.counts[t * each + k] = start;
    if ((t * each + k) % sweep_warps == 0) m.start[(t * each + k) / sweep_warps] = static_cast<std::uint16_t>(start);
    start += own[k];
  }
  __syncthreads();
  // 4. Publish the tile's counts, sort the tile by bucket, and find its offsets in the output.
  if (t < Tile::Lookup::lookers) {
    const auto count = [&](unsigned b) { return (b + 1 < digit_values ? m.start[b + 1] : Tile::size) - m.start[b]; };
    pass.lookup.publish(m.tile, uint4{count(4 * t), count(4 * t + 1), count(4 * t + 2), count(4 * t + 3)});
  }
#pragma unroll
  for (unsigned r = 0; r < Tile::rows; ++r) {
    const unsigned to = m.counts[in.buckets(keys[r]) * sweep_warps + warp] + ranks[r];
    m.keys[to] = keys[r];
    m.from[to] = static_cast<std::uint16_t>(Tile::element(r));
  }
  pass.lookup.find(m.tile, 0, m.lookup, m.start, Tile::size, m.offset);
  __syncthreads();
  // 5. Write: consecutive keys of a bucket go to consecutive offsets.
  for (unsigned p = t; p < size; p += sweep_block) {
    const K key = m.keys[p];
    const std::size_t offset = m.offset[in.buckets(key)] + p;
    pass.out[offset] = pass.codec.decode(key);
    pass.values.move(first + m.from[p], offset);
  }
}

// Two blocks per multiprocessor: one loads while the other ranks.
template <class Tile, class K, bool is_float>
__global__ void __launch_bounds__(sweep_block, 2)
    onesweep_8bit_kernel(Sweep<K, is_float> sweep, unsigned d, unsigned* next_tile) {
  auto& m = *dynamic_shared<Tile>();
  allow_next_launch();
  wait_for_previous();
  const auto pass = sweep.template pass<typename Tile::Lookup>(d);
  if (pass.skipped) return;
  pass.with_input([&](const auto& in) { sweep_tile(m, in, pass, next_tile); });
}

// Sorts by passes over tiles of type `Tile`.
template <class Tile, class Order>
Status sweep_by_tiles(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort = nullptr) {
  using Key = typename Order::Key;
  return sweep_digits<typename Tile::Lookup>(a, bucket_sort, Tile::size,
                                             [&](const SweepOf<Order>& sweep, unsigned d, unsigned* next_tile) {
                                               return launch(onesweep_8bit_kernel<Tile, Key, Order::merges>,
                                                             {.grid = sweep.tiles_of_portion(),
                                                              .block = sweep_block,
                                                              .shared_bytes = sizeof(Tile),
                                                              .overlap = true,
                                                              .stream = a.stream},
                                                             sweep, d, next_tile);
                                             });
}

// A tile of 4096 64-bit keys: its 62,216 bytes fit in a block on Turing, which has 64 KiB.
using SmallSweepTile = SweepTile<std::uint64_t, multisplit::TileLookback, 8>;
// Maximum 64-bit keys for small tiles, which share the work among more multiprocessors. On an H200, 2^20 keys with
// values of 16 bytes take 267 us in small tiles and 347 in large ones; 2^24 take 3450 and 3430.
inline constinit Threshold max_in_small_sweep{"max_in_small_sweep", 1 << 22, 1 << 12};

template <class Order>
Status ballot_passes(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort) {
  if (a.tuning.block && a.tuning.block != sweep_block)
    return {Code::unsupported, 0, "this rung runs only in blocks of 512 threads"};
  using Key = typename Order::Key;
  if constexpr (sizeof(Key) == 8)
    if (a.n <= max_in_small_sweep || !machine().meets({{}, sizeof(SweepTile<Key>)}))
      return sweep_by_tiles<SmallSweepTile>(a, bucket_sort);
  return sweep_by_tiles<SweepTile<Key>>(a, bucket_sort);
}

}  // namespace upsweep::ladders::sort
