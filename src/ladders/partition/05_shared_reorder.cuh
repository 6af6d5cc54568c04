// partition/shared_reorder: tiles are put in the order of their buckets in shared memory, then written run by run.
//
// Scattered writes touch a sector each, and places by atomics wait for each other. Here every block has a share of the
// keys. A first kernel counts the buckets of each share; an exclusive scan of these counts, bucket by bucket and within
// a bucket share by share, says where each share's keys of each bucket go. A second kernel takes its share tile by
// tile: the tile is sorted by bucket, so that neighbouring lanes write to neighbouring places.
//
// Traffic   keys read twice and written once, values read and written once, in runs of the tile's keys of a bucket;
//           8 bytes per share and bucket, written, scanned and read.
// Order     stable: shares and tiles are in order, and a tile is sorted stably.
// Source    Satish, Harris, Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, 2009; Ashkiani,
//           Davidson, Meyer, Owens, GPU Multisplit, 2016 (ranks by ballots).
#pragma once
#include <bit>

#include "kernel/occupancy.h"
#include "ladders/partition/shared_counts.cuh"
#include "ladders/partition/tile_sort.cuh"
#include "ladders/scan/10_reduce_then_scan.cuh"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::partition {

template <class T, class O>
__global__ void share_counts_kernel(Input<T, O> in, std::size_t share,
                                    std::uint64_t* counts) {  // [buckets][gridDim.x]
  unsigned* const own = dynamic_shared<unsigned>();           // [buckets]
  const std::size_t begin = blockIdx.x * share, end = in.n - begin < share ? in.n : begin + share;
  count_in_shared(in, own, begin + threadIdx.x, end, blockDim.x);
  for (unsigned b = threadIdx.x; b < in.buckets.count; b += blockDim.x)
    counts[b * std::size_t(gridDim.x) + blockIdx.x] = own[b];
}

// Shared memory of a block: its tile's keys and words, the sort's counters, and for each bucket how many keys it has
// written.
inline constexpr unsigned reorder_rows = 16;  // keys per thread and tile
// Threads per multiprocessor, and so per block: nvcc 13.0 gives each about 100 of 65536 registers.
inline constexpr unsigned reorder_threads = 512;
template <class T>
constexpr std::size_t reorder_bytes(unsigned block, unsigned buckets) {
  return block * reorder_rows * (sizeof(T) + sizeof(unsigned)) +
         (pass_digits * block / warp_size + buckets + warp_size) * sizeof(unsigned);
}

template <class T, class O>
__global__ void __launch_bounds__(reorder_threads)
    shared_reorder_kernel(Input<T, O> in, T* out,  // [n]
                          Values values, Offsets offsets, std::size_t share,
                          const std::uint64_t* places,  // [buckets][gridDim.x], of the shares' first keys
                          unsigned bits) {              // of a bucket's number
  const unsigned t = threadIdx.x, tile = blockDim.x * reorder_rows, buckets = in.buckets.count;
  T* const keys = dynamic_shared<T>();                                        // [tile]
  unsigned* const sorted = reinterpret_cast<unsigned*>(keys + tile);          // [tile]
  unsigned* const counts = sorted + tile;                                     // [pass_digits][warps]
  unsigned* const written = counts + pass_digits * (blockDim.x / warp_size);  // [buckets]
  unsigned* const warp_totals = written + buckets;                            // [32]
  for (unsigned b = t; b < buckets; b += blockDim.x) {
    written[b] = 0;
    if (blockIdx.x == 0) offsets.put(b, places[b * std::size_t(gridDim.x)]);
  }
  if (blockIdx.x == 0 && t == 0) offsets.put(buckets, in.n);
  const std::size_t begin = blockIdx.x * share, end = in.n - begin < share ? in.n : begin + share;
  for (std::size_t first = begin; first < end; first += tile) {
    const unsigned size = end - first < tile ? static_cast<unsigned>(end - first) : tile;
    // 1. The tile, and its words by bucket.
    unsigned words[reorder_rows];
#pragma unroll
    for (unsigned r = 0; r < reorder_rows; ++r) {
      const unsigned k = (t / warp_size * reorder_rows + r) * warp_size + t % warp_size;
      words[r] = past_the_end;
      if (k < size) {
        keys[k] = in.keys[first + k];
        words[r] = in.buckets(keys[k]) << bucket_shift | k;
      }
    }
    sort_by_bucket(words, bits, sorted, counts, warp_totals);
    // 2. A run is a tile's keys of one bucket. At its first position p, written[b] - p says what to add to a position
    // to get its place among the share's keys of the bucket; modulo 2^32.
    const auto bucket_at = [&](unsigned p) { return sorted[p] >> bucket_shift; };
    for (unsigned p = t; p < size; p += blockDim.x)
      if (p == 0 || bucket_at(p - 1) != bucket_at(p)) written[bucket_at(p)] -= p;
    __syncthreads();
    // 3. Neighbouring positions of a run to neighbouring places.
    for (unsigned p = t; p < size; p += blockDim.x) {
      const unsigned b = bucket_at(p), k = sorted[p] & ((1u << bucket_shift) - 1);
      const std::size_t place = places[b * std::size_t(gridDim.x) + blockIdx.x] + (written[b] + p);
      out[place] = keys[k];
      values.move(first + k, place);
    }
    __syncthreads();
    // 4. At its last position p, p + 1 completes what the run has written.
    for (unsigned p = t; p < size; p += blockDim.x)
      if (p + 1 == size || bucket_at(p + 1) != bucket_at(p)) written[bucket_at(p)] += p + 1;
    __syncthreads();
  }
}

struct shared_reorder {
  static constexpr Story story{
      .idea = "tiles sorted by bucket in shared memory; places from a scan of every share's counts",
      .prediction = "12 bytes per u32 key for 8: 0.6 of the copy ceiling, less what the sort in the tile takes",
      .guarantees = "stable",
      .limits = "any n; whole warps, at most 512 threads; 8 bytes of scratch per bucket and block; five launches",
      .source = "Satish, Harris, Garland, 2009; Ashkiani et al., GPU Multisplit, 2016"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned buckets = a.in.buckets.count;
    unsigned block = a.tuning.block_or(256);
    // The more buckets, the less is left for a tile.
    while (a.tuning.block == 0 && block > warp_size && reorder_bytes<T>(block, buckets) > machine().shared_per_block)
      block /= 2;
    if (!whole_warps(block) || block > reorder_threads)
      return {Code::unsupported, 0, "this rung needs blocks of whole warps, 32 to 512 threads"};
    const std::size_t bytes = reorder_bytes<T>(block, buckets), tile = block * reorder_rows;
    if (bytes > machine().shared_per_block)
      return {Code::unsupported, 0, "too many buckets for blocks this large"};
    // Shares of less than 2^32 keys, whose counts have 32 bits.
    const std::size_t tiles = a.in.n ? ceil_div(a.in.n, tile) : 1, least = ceil_div(a.in.n, std::size_t(1) << 31);
    const unsigned by_registers = reorder_threads / block, by_memory = resident(bytes, block);
    const unsigned per_sm = by_registers < by_memory ? by_registers : by_memory;
    std::size_t shares = a.tuning.grid_or(std::size_t(machine().multiprocessors) * per_sm);
    shares = shares < least ? least : shares < tiles ? shares : tiles;
    const std::size_t share = ceil_div(tiles, shares) * tile;
    const auto grid = static_cast<unsigned>(a.in.n ? ceil_div(a.in.n, share) : 1);
    const std::size_t count = std::size_t(buckets) * grid;
    auto* const places = static_cast<std::uint64_t*>(a.workspace->scratch_of_caller(count * sizeof(std::uint64_t)));
    if (!places) return no_memory;
    Shape shape{.grid = grid, .block = block, .shared_bytes = buckets * sizeof(unsigned), .stream = a.stream};
    if (Status s = launch(share_counts_kernel<T, O>, shape, a.in, share, places); !s) return s;
    if (Status s = scan::reduce_then_scan::run<std::uint64_t, Sum>({a, places, places, count, false, Sum{}}); !s)
      return s;
    shape.shared_bytes = bytes;
    return launch(shared_reorder_kernel<T, O>, shape, a.in, a.keys, a.values, a.offsets, share, places,
                  static_cast<unsigned>(std::bit_width(buckets - 1)));
  }
};

}  // namespace upsweep::ladders::partition
