// One stable pass by up to 256 buckets, in tiles of a warp's own: what warp_multisplit and two_passes share.
#pragma once
#include <bit>

#include "kernel/block.h"
#include "kernel/occupancy.h"
#include "ladders/partition/contract.h"
#include "ladders/scan/10_reduce_then_scan.cuh"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::partition {

// A warp's, in shared memory: 6 KB for keys of 4 bytes, so that a multiprocessor has room for four blocks of 8.
template <class T>
struct WarpTile {
  static constexpr unsigned rows = 16, size = rows * warp_size;
  std::uint64_t offset[max_counted];  // in the output: of the bucket's next key
  T keys[size];                       // by bucket
  unsigned start[max_counted];        // keys of the bucket, then where they begin in the tile
  std::uint16_t from[size];           // where in the tile each key was
};

// The keys of this warp of the grid.
struct WarpShare {
  std::size_t number, warps, begin, end;
  __device__ WarpShare(std::size_t n, std::size_t share)
      : number((std::size_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp_size),
        warps(std::size_t(gridDim.x) * blockDim.x / warp_size),
        begin(number * share < n ? number * share : n),
        end(n - begin < share ? n : begin + share) {}
};

template <class T, class B>
__global__ void warp_counts_kernel(multisplit::BucketedKeys<T, B> in, std::size_t share,
                                   std::uint64_t* counts) {  // [buckets][warps]
  const WarpShare own(in.n, share);
  const unsigned lane = threadIdx.x % warp_size, buckets = in.buckets.count;
  unsigned* const count = dynamic_shared<unsigned>() + threadIdx.x / warp_size * buckets;
  for (unsigned b = lane; b < buckets; b += warp_size) count[b] = 0;
  __syncwarp();
  for (std::size_t i = own.begin + lane; i < own.end; i += warp_size) atomicAdd(&count[in.bucket_of(i)], 1u);
  __syncwarp();
  for (unsigned b = lane; b < buckets; b += warp_size) counts[b * own.warps + own.number] = count[b];
}

// Warp-wide: returns those of the lanes `among` that have the same number as this lane, by a ballot for each of its
// bits.
__device__ __forceinline__ unsigned lanes_alike(unsigned number, unsigned bits, unsigned among) {
  for (unsigned b = 0; b < bits; ++b) {
    const bool is_set = number >> b & 1;
    const unsigned votes = __ballot_sync(all_lanes, is_set);
    among &= is_set ? votes : ~votes;
  }
  return among;
}

// Most of a block, and half of a multiprocessor's: 64 registers for each.
inline constexpr unsigned multisplit_threads = 512;
template <class T, class B>
__global__ void __launch_bounds__(multisplit_threads, 2)
    warp_multisplit_kernel(multisplit::BucketedKeys<T, B> in, T* out,  // [n]
                           Values values, Offsets offsets, std::size_t share,
                           const std::uint64_t* share_offsets,  // [buckets][warps], of the shares' first keys
                           unsigned bits) {                     // of a bucket's number
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
    // 1. The rank of each key among the tile's keys of its bucket.
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
    // 2. Where the buckets begin in the tile. `offset` becomes what to add to a position in the tile.
    unsigned before = 0;
    for (unsigned b = lane; b - lane < buckets; b += warp_size) {  // by all lanes
      const unsigned count = b < buckets ? m.start[b] : 0, upto = before + warp_scan(count, Sum{});
      if (b < buckets) {
        m.start[b] = upto - count;
        m.offset[b] -= upto - count;
      }
      before = shuffle(upto, warp_size - 1);
    }
    __syncwarp();
    // 3. The tile by bucket.
#pragma unroll
    for (unsigned r = 0; r < Tile::rows; ++r) {
      const unsigned k = r * warp_size + lane;
      if (k >= size) break;
      const unsigned to = m.start[in.buckets(keys[r])] + ranks[r];
      m.keys[to] = keys[r];
      m.from[to] = static_cast<std::uint16_t>(k);
    }
    __syncwarp();
    // 4. Neighbouring keys of a bucket to neighbouring offsets.
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

template <class T, class B>
Status warp_pass(const multisplit::Task<T, B>& a) {
  const unsigned buckets = a.in.buckets.count, block = a.tuning.block_or(256), warps = block / warp_size;
  if (!whole_warps(block) || block > multisplit_threads)
    return {Code::unsupported, 0, "this rung needs blocks of whole warps, 32 to 512 threads"};
  const std::size_t bytes = warps * sizeof(WarpTile<T>), tiles = ceil_div(a.in.n, WarpTile<T>::size);
  // Shares of less than 2^32 keys, whose counts have 32 bits.
  const std::size_t max_blocks = a.tuning.grid_or(std::size_t(machine().multiprocessors) * resident(bytes, block));
  const std::size_t min_blocks = ceil_div(a.in.n, std::size_t(1) << 31), needed = tiles ? ceil_div(tiles, warps) : 1;
  const std::size_t grid = max_blocks < min_blocks ? min_blocks : max_blocks < needed ? max_blocks : needed;
  const std::size_t share = ceil_div(tiles, grid * warps) * WarpTile<T>::size, count = buckets * grid * warps;
  auto* const share_offsets =
      static_cast<std::uint64_t*>(a.workspace->scratch_of_caller(count * sizeof(std::uint64_t)));
  if (!share_offsets) return no_memory;
  Shape shape{.grid = static_cast<unsigned>(grid),
              .block = block,
              .shared_bytes = warps * buckets * sizeof(unsigned),
              .stream = a.stream};
  if (Status s = launch(warp_counts_kernel<T, B>, shape, a.in, share, share_offsets); !s) return s;
  if (Status s =
          scan::reduce_then_scan::run<std::uint64_t, Sum>({a, share_offsets, share_offsets, count, false, Sum{}});
      !s)
    return s;
  shape.shared_bytes = bytes;
  return launch(warp_multisplit_kernel<T, B>, shape, a.in, a.keys, a.values, a.offsets, share, share_offsets,
                static_cast<unsigned>(std::bit_width(buckets - 1)));
}

// Passes by a digit are compiled once, in digit_passes_unit.cuh.
extern template Status warp_pass(const Args<std::uint32_t, By<Bucketing::digit>>&);
extern template Status warp_pass(const Args<std::uint64_t, By<Bucketing::digit>>&);

}  // namespace upsweep::ladders::partition
