// Per-warp tiles and shares of the keys, for warp_multisplit.
#pragma once
#include "kernel/block.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// A warp's tile in shared memory: 6 KB for 4-byte keys, so that four blocks of 8 warps fit a multiprocessor.
template <class T>
struct WarpTile {
  static constexpr unsigned rows = 16, size = rows * warp_size;
  std::uint64_t offset[max_counted];  // output offset of the bucket's next key
  T keys[size];                       // sorted by bucket
  unsigned start[max_counted];        // the bucket's count, then its first position in the tile
  std::uint16_t from[size];           // position of each key in the unsorted tile
};

// The share of the keys of the calling warp.
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

// Warp-wide: returns the lanes of `among` whose number equals this lane's, by one ballot per bit.
__device__ __forceinline__ unsigned lanes_alike(unsigned number, unsigned bits, unsigned among) {
  for (unsigned b = 0; b < bits; ++b) {
    const bool is_set = number >> b & 1;
    const unsigned votes = __ballot_sync(all_lanes, is_set);
    among &= is_set ? votes : ~votes;
  }
  return among;
}

}  // namespace upsweep::ladders::partition
