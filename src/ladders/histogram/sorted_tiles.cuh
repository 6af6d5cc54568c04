// The first kernel of partitioned: sorts tiles of samples by bucket. The counters of a bucket fit in a block's shared
// memory.
#pragma once
#include "ladders/histogram/steps.cuh"

namespace upsweep::ladders::histogram {

// Tiles of samples sorted by bucket: the output of the first kernel and the input of the second.
struct Partition {
  static constexpr unsigned block = 512, samples_per_thread = 32, tile = block * samples_per_thread;
  static constexpr unsigned buckets = most_buckets;

  std::uint16_t* places;  // [tiles][tile]: the index of each sample's counter in its bucket, sorted by bucket
  unsigned* runs;         // [buckets][tiles]: the start of the bucket's run in the tile, plus 2^16 times its length
  unsigned tiles;
  unsigned* lengths;  // [buckets], initially zero: samples per bucket
  unsigned* taken;    // [buckets], initially zero: groups of tiles taken by warps

  // Maximum counters of a bucket. The last bucket has one more than the others: with 2^20 counters, that of samples in
  // no bin.
  static constexpr unsigned largest_bucket = (1u << log_bucket) + 1;
  static __host__ __device__ __forceinline__ unsigned bucket_of(unsigned slot) {
    const unsigned bucket = slot >> log_bucket;
    return bucket < buckets ? bucket : buckets - 1;
  }
  // Swizzle: returns the index at which position p of a tile is stored, in the same 128 bytes. If all samples of a warp
  // are in one bucket, its lanes write positions 32 or 512 apart, which without the swizzle would be in two banks. The
  // swizzle is its own inverse.
  static __device__ __forceinline__ unsigned stored_at(unsigned p) { return p ^ (p >> 8 & 0x3e); }
  // Returns the tiles per group, the unit that a warp claims: 4 to 16, with about 2^13 samples of the bucket if the
  // samples are spread evenly.
  __device__ __forceinline__ unsigned group(unsigned bucket) const {
    const unsigned all = lengths[bucket] / tiles;  // samples per tile
    return all < 1024 ? 16 : all < 2048 ? 8 : 4;
  }
  __device__ __forceinline__ unsigned groups(unsigned bucket) const { return (tiles - 1) / group(bucket) + 1; }
};

// Sorts the samples of each tile by bucket, and writes the sorted tiles, the runs and the lengths.
template <Search search, class T, class O>
__global__ void __launch_bounds__(Partition::block, 2) partition_kernel(Input<T, O> in, Partition to) {
  constexpr unsigned block = Partition::block, items = Partition::samples_per_thread, buckets = Partition::buckets;
  struct Memory {
    std::uint16_t sorted[Partition::tile];
    unsigned own[buckets][block];  // samples per bucket and thread; then the position of the first one
  };
  Memory& memory = *dynamic_shared<Memory>();
  __shared__ unsigned lengths[buckets];  // of the runs
  const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size;
  allow_next_launch();
  wait_for_previous();
  for (unsigned tile = blockIdx.x; tile < to.tiles; tile += gridDim.x) {
    const std::size_t begin = std::size_t(tile) * Partition::tile;
    const std::size_t left = in.samples.count - begin;
    const auto sort = [&](auto whole) {
      const auto present = [&](unsigned k) { return whole || k * block + t < left; };
      // Per sample: its counter in the bucket, plus 2^16 times the bucket, plus 2^21 times the number of the thread's
      // earlier samples in the bucket.
      unsigned samples[items];
      if (whole && in.samples.width == in.samples.count && in.samples.channels == 1) {
#pragma unroll
        for (unsigned k = 0; k < items; ++k) samples[k] = bin_of<search>(in, in.samples.data[begin + k * block + t]);
      } else {  // through shared memory: 32 copies of a division and a search would compile for minutes
        static_assert(items <= buckets);
#pragma unroll 4
        for (unsigned k = 0; k < items; ++k) memory.own[k][t] = present(k) ? in.counter_of(begin + k * block + t) : 0;
#pragma unroll
        for (unsigned k = 0; k < items; ++k) samples[k] = memory.own[k][t];
      }
#pragma unroll
      for (unsigned b = 0; b < buckets; ++b) memory.own[b][t] = 0;
#pragma unroll
      for (unsigned k = 0; k < items; ++k) {
        if (!present(k)) continue;
        const unsigned bucket = Partition::bucket_of(samples[k]), earlier = memory.own[bucket][t]++;
        samples[k] += bucket * ((1u << 16) - (1u << log_bucket)) + (earlier << 21);
      }
      __syncthreads();
      // A warp scans the counts of two buckets, one after the other. Lane l sums those of the groups of four threads l,
      // l + 32, ...; a bucket's samples are placed in this order, lane by lane.
      constexpr unsigned per_warp = buckets / (block / warp_size), fours = block / 4 / warp_size;
      uint4* const of_fours = reinterpret_cast<uint4*>(memory.own[warp * per_warp]) + lane;
      unsigned before[per_warp];
#pragma unroll
      for (unsigned j = 0; j < per_warp; ++j) {
        unsigned sum = 0;
#pragma unroll
        for (unsigned k = 0; k < fours; ++k) {
          const uint4 four = of_fours[j * block / 4 + k * warp_size];
          sum += four.x + four.y + four.z + four.w;
        }
        const unsigned all = warp_scan(sum, Sum{});
        before[j] = all - sum;
        if (lane == warp_size - 1) lengths[warp * per_warp + j] = all;
      }
      __syncthreads();
      const unsigned length = lengths[lane], start = warp_scan(length, Sum{}) - length;
      if (warp == 0) {
        to.runs[lane * std::size_t(to.tiles) + tile] = start | length << 16;
        if (length) atomicAdd(&to.lengths[lane], length);
      }
#pragma unroll
      for (unsigned j = 0; j < per_warp; ++j) {
        unsigned place = shuffle(start, warp * per_warp + j) + before[j];
#pragma unroll
        for (unsigned k = 0; k < fours; ++k) {
          uint4& four = of_fours[j * block / 4 + k * warp_size];
          const uint4 counts = four;
          four = uint4{place, place + counts.x, place + counts.x + counts.y, place + counts.x + counts.y + counts.z};
          place += counts.x + counts.y + counts.z + counts.w;
        }
      }
      __syncthreads();
#pragma unroll
      for (unsigned k = 0; k < items; ++k)
        if (present(k)) {
          const unsigned place = memory.own[samples[k] >> 16 & (buckets - 1)][t] + (samples[k] >> 21);
          memory.sorted[Partition::stored_at(place)] = static_cast<std::uint16_t>(samples[k]);
        }
      // Zeroes the rest of the last 128-byte line, which is copied whole.
      if (!whole && t < -left % 64) memory.sorted[Partition::stored_at(static_cast<unsigned>(left) + t)] = 0;
      __syncthreads();
      const auto* const from = reinterpret_cast<const uint4*>(memory.sorted);
      auto* const packs = reinterpret_cast<uint4*>(to.places + begin);
#pragma unroll
      for (unsigned i = t; i < Partition::tile / 8; i += block)
        if (whole || i / 8 * 64 < left) packs[i] = from[i];
    };
    if (left >= Partition::tile)
      sort(std::true_type{});
    else
      sort(std::false_type{});
  }
}

}  // namespace upsweep::ladders::histogram
