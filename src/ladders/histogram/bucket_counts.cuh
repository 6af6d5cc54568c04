// The second kernel of partitioned: counts the samples of sorted tiles, bucket by bucket.
#pragma once
#include "ladders/histogram/sorted_tiles.cuh"

namespace upsweep::ladders::histogram {

// Counts the samples of every bucket in use, one bucket per block at a time, and adds the counts to the totals.
static __global__ void __launch_bounds__(1024, 1)
    count_buckets(Partition from, unsigned slots, unsigned* totals) {  // [slots]
  unsigned* const counts = dynamic_shared<unsigned>();                 // [Partition::largest_bucket]
  __shared__ unsigned next_bucket;
  const unsigned lane = threadIdx.x % warp_size, used = Partition::bucket_of(slots - 1) + 1;
  // Counts positions [start, end) of a tile. Called by eight lanes, which together read 128 bytes per load.
  constexpr unsigned line = 64, at_once = 4;
  const auto count_run = [&](const std::uint16_t* tile, unsigned start, unsigned end) {
    const auto* const packs = reinterpret_cast<const uint4*>(tile) + lane % 8;
    for (unsigned first = start / line; first * line < end; first += at_once) {
      uint4 raw[at_once];
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        if ((first + k) * line < end) raw[k] = load_once(packs + (first + k) * 8);
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        const unsigned begin = (first + k) * line;
        if (begin >= end) break;
        const Pack<std::uint16_t> pack = as_pack<std::uint16_t>(raw[k]);
        if (begin >= start && begin + line <= end) {
#pragma unroll
          for (unsigned i = 0; i < 8; ++i) atomicAdd(&counts[pack.item[i]], 1u);
        } else {
#pragma unroll
          for (unsigned i = 0; i < 8; ++i) {
            const unsigned place = Partition::stored_at(begin + lane % 8 * 8 + i);
            if (place >= start && place < end) atomicAdd(&counts[pack.item[i]], 1u);
          }
        }
      }
    }
  };
  for (unsigned k = threadIdx.x; k < Partition::largest_bucket; k += blockDim.x) counts[k] = 0;
  allow_next_launch();
  wait_for_previous();
  __syncthreads();
  for (unsigned bucket = blockIdx.x * used / gridDim.x; bucket < used; bucket = next_bucket) {
    const unsigned group = from.group(bucket), groups = from.groups(bucket);
    for (;;) {
      unsigned mine = lane == 0 ? atomicAdd(&from.taken[bucket], 1u) : 0;
      mine = shuffle(mine, 0);
      if (mine >= groups) break;
      // A group's tiles are `groups` apart: if the samples are sorted, a bucket has long runs in a few adjacent tiles,
      // and this divides them among groups.
      const unsigned own_tile = mine + lane * groups;
      const bool has_run = lane < group && own_tile < from.tiles;
      const unsigned run = has_run ? from.runs[bucket * std::size_t(from.tiles) + own_tile] : 0;
      for (unsigned j = lane / 8; j - lane / 8 < group; j += 4) {
        const unsigned one = shuffle(run, j), start = one & 0xffff, length = one >> 16;
        if (length) count_run(from.places + std::size_t(mine + j * groups) * Partition::tile, start, start + length);
        __syncwarp();
      }
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < Partition::largest_bucket; k += blockDim.x)
      if (counts[k]) {
        atomicAdd(&totals[(bucket << log_bucket) + k], counts[k]);
        counts[k] = 0;
      }
    // The next bucket is the one with the most groups left. A bucket that no block has begun always qualifies; any
    // other only if it has more groups left than a block has warps: helping with fewer would take longer than it saves.
    if (threadIdx.x < warp_size) {
      const unsigned all = lane < used && from.lengths[lane] ? from.groups(lane) : 0;
      const unsigned begun = all ? atomicAdd(&from.taken[lane], 0u) : 0;
      const unsigned left = begun < all ? all - begun : 0;
      const unsigned most = warp_reduce_all(begun == 0 || left > warp_size ? left : 0, Max{});
      const unsigned which = __ballot_sync(all_lanes, left == most);
      if (lane == 0) next_bucket = most ? lowest_bit(which) : used;
    }
    __syncthreads();
  }
}

}  // namespace upsweep::ladders::histogram
