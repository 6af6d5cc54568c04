// partition/warp_multisplit: each warp sorts its own tiles by bucket and waits for no other warp.
//
// A block of shared_reorder executes eleven barriers per tile. Here each warp has a share of the keys, a tile and
// counters to itself. It ranks its keys in rows of 32: one ballot per bit of the bucket number tells each lane which
// lanes have the same bucket, and the lowest of these updates the counter. The price is a tile of only 512 keys: runs
// are long with few buckets, but with 256 buckets a run has only two keys.
//
// Traffic   keys read twice and written once, values read and written once, in one run per bucket of a warp's tile; 8
//           bytes per warp and bucket, written, scanned and read.
// Order     stable: shares, tiles and rows keep the order of the input.
// Source    Ashkiani, Davidson, Meyer, Owens, GPU Multisplit, 2016. There a warp has a single tile, and the counts of
//           every tile are scanned; here a warp has a share of many tiles, like a block of shared_reorder.
#pragma once
#include <bit>

#include "kernel/occupancy.h"
#include "ladders/partition/warp_tiles.cuh"
#include "ladders/scan/10_reduce_then_scan.cuh"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::partition {

// Maximum threads per block. Two blocks per multiprocessor leave 64 registers per thread.
inline constexpr unsigned multisplit_threads = 512;
template <class T, class B>
__global__ void __launch_bounds__(multisplit_threads, 2)
    warp_multisplit_kernel(multisplit::BucketedKeys<T, B> in, T* out,  // [n]
                           Values values, Offsets offsets, std::size_t share,
                           const std::uint64_t* share_offsets,  // [buckets][warps], offset of each share's first key
                           unsigned bits) {                     // in a bucket number
  using Tile = WarpTile<T>;
  const WarpShare own(in.n, share);
  const unsigned lane = threadIdx.x % warp_size, lower_lanes = (1u << lane) - 1, buckets = in.buckets.count;
  Tile& m = dynamic_shared<Tile>()[threadIdx.x / warp_size];
  for (unsigned b = lane; b < buckets; b += warp_size) {
    m.offset[b] = share_offsets[b * own.warps + own.number];
    if (own.number == 0) offsets.put(b, m.offset[b]);
  }
  if (own.number == 0 && lane == 0) offsets.put(buckets, in.n);
  for (std::size_t first = own.begin; first < own.end; first += Tile::size) {
    const unsigned size = own.end - first < Tile::size ? static_cast<unsigned>(own.end - first) : Tile::size;
    for (unsigned b = lane; b < buckets; b += warp_size) m.start[b] = 0;
    __syncwarp();
    // 1. Rank each key among the tile's keys of its bucket.
    T keys[Tile::rows];
    unsigned ranks[Tile::rows];
#pragma unroll
    for (unsigned r = 0; r < Tile::rows; ++r)
      if (r * warp_size + lane < size) keys[r] = in.keys[first + r * warp_size + lane];
#pragma unroll
    for (unsigned r = 0; r < Tile::rows; ++r) {
      const bool exists = r * warp_size + lane < size;
      const unsigned bucket = exists ? in.buckets(keys[r]) : 0;
      const unsigned peers = lanes_alike(bucket, bits, __ballot_sync(all_lanes, exists));
      const unsigned before = static_cast<unsigned>(__popc(peers & lower_lanes)), count = m.start[bucket];
      ranks[r] = count + before;
      __syncwarp();
      if (exists && before == 0) m.start[bucket] = count + static_cast<unsigned>(__popc(peers));
      __syncwarp();
    }
    // 2. Find where each bucket begins in the tile. `offset` becomes output offset minus position in the tile.
    unsigned before = 0;
    for (unsigned b = lane; b - lane < buckets; b += warp_size) {  // all lanes iterate, for warp_scan()
      const unsigned count = b < buckets ? m.start[b] : 0, upto = before + warp_scan(count, Sum{});
      if (b < buckets) {
        m.start[b] = upto - count;
        m.offset[b] -= upto - count;
      }
      before = shuffle(upto, warp_size - 1);
    }
    __syncwarp();
    // 3. Sort the tile by bucket.
#pragma unroll
    for (unsigned r = 0; r < Tile::rows; ++r) {
      const unsigned k = r * warp_size + lane;
      if (k >= size) break;
      const unsigned to = m.start[in.buckets(keys[r])] + ranks[r];
      m.keys[to] = keys[r];
      m.from[to] = static_cast<std::uint16_t>(k);
    }
    __syncwarp();
    // 4. Write the runs: neighbouring lanes store to neighbouring offsets.
    for (unsigned p = lane; p < size; p += warp_size) {
      const T key = m.keys[p];
      const std::size_t offset = m.offset[in.buckets(key)] + p;
      out[offset] = key;
      values.move(first + m.from[p], offset);
    }
    __syncwarp();
    for (unsigned b = lane; b < buckets; b += warp_size) m.offset[b] += b + 1 < buckets ? m.start[b + 1] : size;
    __syncwarp();
  }
}

struct warp_multisplit {
  static constexpr Story story{
      .idea = "tiles of 512 keys, each sorted by one warp, without barriers",
      .prediction = "twice shared_reorder's speed with 16 buckets; slower with 256, whose runs have two keys",
      .guarantees = "stable",
      .limits = "up to 256 buckets; any n; whole warps, at most 512 threads; five launches",
      .source = "Ashkiani et al., GPU Multisplit, 2016"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.buckets.count > max_counted) return {Code::unsupported, 0, "this rung takes up to 256 buckets"};
    const unsigned buckets = a.in.buckets.count, block = a.tuning.block_or(256), warps = block / warp_size;
    if (!whole_warps(block) || block > multisplit_threads)
      return {Code::unsupported, 0, "this rung needs blocks of whole warps, 32 to 512 threads"};
    const std::size_t bytes = warps * sizeof(WarpTile<T>), tiles = ceil_div(a.in.n, WarpTile<T>::size);
    // Shares have fewer than 2^32 keys, because counts have 32 bits.
    const std::size_t max_blocks = a.tuning.grid_or(std::size_t(machine().multiprocessors) * resident(bytes, block));
    const std::size_t min_blocks = ceil_div(a.in.n, std::size_t(1) << 31), needed = tiles ? ceil_div(tiles, warps) : 1;
    const std::size_t grid = max_blocks < min_blocks ? min_blocks : max_blocks < needed ? max_blocks : needed;
    const std::size_t share = ceil_div(tiles, grid * warps) * WarpTile<T>::size, count = buckets * grid * warps;
    Scratch scratch(*a.workspace);
    auto* const share_offsets = scratch.take<std::uint64_t>(count);
    if (!scratch) return no_memory;
    Shape shape{.grid = static_cast<unsigned>(grid),
                .block = block,
                .shared_bytes = warps * buckets * sizeof(unsigned),
                .stream = a.stream};
    if (Status s = launch(warp_counts_kernel<T, Buckets<T, O>>, shape, a.in, share, share_offsets); !s) return s;
    if (Status s =
            scan::reduce_then_scan::run<std::uint64_t, Sum>({a, share_offsets, share_offsets, count, false, Sum{}});
        !s)
      return s;
    shape.shared_bytes = bytes;
    return launch(warp_multisplit_kernel<T, Buckets<T, O>>, shape, a.in, a.keys, a.values, a.offsets, share,
                  share_offsets, static_cast<unsigned>(std::bit_width(buckets - 1)));
  }
};

}  // namespace upsweep::ladders::partition
