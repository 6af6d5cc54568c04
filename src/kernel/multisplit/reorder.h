// A multisplit in which each block has a contiguous share of the keys: one kernel counts every share's keys per bucket;
// the counts are scanned; a second kernel sorts each share tile by tile in shared memory and writes runs.
#pragma once
#include <bit>

#include "kernel/block.h"
#include "kernel/multisplit/shared_counts.h"

namespace upsweep::multisplit {

// ---- sorting a tile -------------------------------------------------------------------------------------------------

// One word per element: its position in the tile in the lower 16 bits, its bucket above them.
inline constexpr unsigned bucket_shift = 16;
inline constexpr unsigned past_the_end = ~0u;  // sorts after every element
// Bits of the bucket number per pass: 16 counters per warp, whatever the number of buckets.
inline constexpr unsigned pass_bits = 4, pass_digits = 1 << pass_bits;

// Block-wide: sorts blockDim.x * Rows words by bucket, stably; buckets are below 2^bits. In row r, lane l of warp w has
// word (w * Rows + r) * 32 + l. Ends with a barrier.
template <unsigned Rows>
__device__ void sort_by_bucket(unsigned (&words)[Rows], unsigned bits,
                               unsigned* sorted,         // [blockDim.x * Rows], shared
                               unsigned* counts,         // [pass_digits][warps], shared
                               unsigned* warp_totals) {  // [32], shared
  const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size, warps = blockDim.x / warp_size;
  const unsigned lower_lanes = (1u << lane) - 1;
  for (unsigned shift = bucket_shift; shift < bucket_shift + bits; shift += pass_bits) {
    if (shift > bucket_shift)
      for (unsigned r = 0; r < Rows; ++r) words[r] = sorted[(warp * Rows + r) * warp_size + lane];
    // 1. Rank every word among the warp's words of the same digit.
    unsigned ranks[Rows];
    if (lane < pass_digits) counts[lane * warps + warp] = 0;
    __syncwarp();
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
      const unsigned digit = words[r] >> shift & (pass_digits - 1);
      unsigned peers = all_lanes;  // the lanes with the same digit
#pragma unroll
      for (unsigned b = 0; b < pass_bits; ++b) {
        const bool is_set = digit >> b & 1;
        const unsigned votes = __ballot_sync(all_lanes, is_set);
        peers &= is_set ? votes : ~votes;
      }
      const unsigned before = static_cast<unsigned>(__popc(peers & lower_lanes));
      unsigned& count = counts[digit * warps + warp];
      ranks[r] = count + before;
      __syncwarp();
      if (before == 0) count += static_cast<unsigned>(__popc(peers));
      __syncwarp();
    }
    __syncthreads();
    // 2. Find where each warp's words of each digit begin.
    unsigned total;
    const unsigned start = block_scan(t < pass_digits * warps ? counts[t] : 0, Sum{}, warp_totals, total);
    if (t < pass_digits * warps) counts[t] = start;
    __syncthreads();
    // 3. Store the words by digit.
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r)
      sorted[counts[(words[r] >> shift & (pass_digits - 1)) * warps + warp] + ranks[r]] = words[r];
    __syncthreads();
  }
}

// ---- the kernels ----------------------------------------------------------------------------------------------------

template <class T, class B>
__global__ void share_counts_kernel(BucketedKeys<T, B> in, std::size_t share,
                                    std::uint64_t* counts) {  // [buckets][gridDim.x]
  unsigned* const own = dynamic_shared<unsigned>();           // [buckets]
  const std::size_t begin = blockIdx.x * share, end = in.n - begin < share ? in.n : begin + share;
  count_in_shared(in, own, begin + threadIdx.x, end, blockDim.x);
  for (unsigned b = threadIdx.x; b < in.buckets.count; b += blockDim.x)
    counts[b * std::size_t(gridDim.x) + blockIdx.x] = own[b];
}

inline constexpr unsigned reorder_rows = 16;  // keys per thread and tile
// Maximum resident threads per multiprocessor, and so per block: with nvcc 13.0, a thread takes about 100 of a
// multiprocessor's 65536 registers.
inline constexpr unsigned reorder_threads = 512;
// Returns a block's shared memory in bytes: its tile's keys and words, the sort's counters and warp totals, and the
// number of keys written per bucket.
template <class T>
constexpr std::size_t reorder_bytes(unsigned block, unsigned buckets) {
  return block * reorder_rows * (sizeof(T) + sizeof(unsigned)) +
         (pass_digits * block / warp_size + buckets + warp_size) * sizeof(unsigned);
}

template <class T, class B>
__global__ void __launch_bounds__(reorder_threads)
    shared_reorder_kernel(BucketedKeys<T, B> in, T* out,  // [n]
                          Values values, Offsets offsets, std::size_t share,
                          const std::uint64_t* share_offsets,  // [buckets][gridDim.x], offset of each share's first key
                          unsigned bits) {                     // in a bucket number
  const unsigned t = threadIdx.x, tile = blockDim.x * reorder_rows, buckets = in.buckets.count;
  T* const keys = dynamic_shared<T>();                                        // [tile]
  unsigned* const sorted = reinterpret_cast<unsigned*>(keys + tile);          // [tile]
  unsigned* const counts = sorted + tile;                                     // [pass_digits][warps]
  unsigned* const written = counts + pass_digits * (blockDim.x / warp_size);  // [buckets]
  unsigned* const warp_totals = written + buckets;                            // [32]
  for (unsigned b = t; b < buckets; b += blockDim.x) {
    written[b] = 0;
    if (blockIdx.x == 0) offsets.put(b, share_offsets[b * std::size_t(gridDim.x)]);
  }
  if (blockIdx.x == 0 && t == 0) offsets.put(buckets, in.n);
  const std::size_t begin = blockIdx.x * share, end = in.n - begin < share ? in.n : begin + share;
  for (std::size_t first = begin; first < end; first += tile) {
    const unsigned size = end - first < tile ? static_cast<unsigned>(end - first) : tile;
    // 1. Load the tile, and sort its words by bucket.
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
    // 2. A run is the tile's keys of one bucket; p is the position of its first key. Subtract p from written[b], so
    // that written[b] plus a key's position in the tile is, modulo 2^32, the key's rank among the share's keys of
    // bucket b.
    const auto bucket_at = [&](unsigned p) { return sorted[p] >> bucket_shift; };
    for (unsigned p = t; p < size; p += blockDim.x)
      if (p == 0 || bucket_at(p - 1) != bucket_at(p)) written[bucket_at(p)] -= p;
    __syncthreads();
    // 3. Write the runs: neighbouring lanes store to neighbouring offsets.
    for (unsigned p = t; p < size; p += blockDim.x) {
      const unsigned b = bucket_at(p), k = sorted[p] & ((1u << bucket_shift) - 1);
      const std::size_t offset = share_offsets[b * std::size_t(gridDim.x) + blockIdx.x] + (written[b] + p);
      out[offset] = keys[k];
      values.move(first + k, offset);
    }
    __syncthreads();
    // 4. Turn written[b] back into the number of keys written, by adding p + 1, where p is now the position of the
    // run's last key. The next tile's sort has a barrier before it overwrites `sorted`, and another before `written`
    // changes.
    for (unsigned p = t; p < size; p += blockDim.x)
      if (p + 1 == size || bucket_at(p + 1) != bucket_at(p)) written[bucket_at(p)] += p + 1;
  }
}

// Launches both kernels and, between them, calls scan(counts, count), which queues an in-place exclusive scan of
// `count` 64-bit counts.
template <class T, class B, class Scan>
Status reorder_pass(const Task<T, B>& a, Scan&& scan) {
  const unsigned buckets = a.in.buckets.count;
  unsigned block = a.tuning.block_or(256);
  // More buckets leave less shared memory for a tile, so blocks shrink.
  while (a.tuning.block == 0 && block > warp_size && reorder_bytes<T>(block, buckets) > machine().shared_per_block)
    block /= 2;
  if (!whole_warps(block) || block > reorder_threads)
    return {Code::unsupported, 0, "this rung needs blocks of whole warps, 32 to 512 threads"};
  const std::size_t bytes = reorder_bytes<T>(block, buckets), tile = block * reorder_rows;
  if (bytes > machine().shared_per_block) return {Code::unsupported, 0, "too many buckets for blocks this large"};
  // Shares have fewer than 2^32 keys, because counts have 32 bits.
  const std::size_t tiles = a.in.n ? ceil_div(a.in.n, tile) : 1, min_shares = ceil_div(a.in.n, std::size_t(1) << 31);
  const unsigned by_registers = reorder_threads / block, by_memory = resident(bytes, block);
  const unsigned per_sm = by_registers < by_memory ? by_registers : by_memory;
  std::size_t shares = a.tuning.grid_or(std::size_t(machine().multiprocessors) * per_sm);
  shares = shares < min_shares ? min_shares : shares < tiles ? shares : tiles;
  const std::size_t share = ceil_div(tiles, shares) * tile;
  const auto grid = static_cast<unsigned>(a.in.n ? ceil_div(a.in.n, share) : 1);
  const std::size_t count = std::size_t(buckets) * grid;
  Scratch scratch(*a.workspace);
  auto* const share_offsets = scratch.take<std::uint64_t>(count);
  if (!scratch) return no_memory;
  Shape shape{.grid = grid, .block = block, .shared_bytes = buckets * sizeof(unsigned), .stream = a.stream};
  if (Status s = launch(share_counts_kernel<T, B>, shape, a.in, share, share_offsets); !s) return s;
  if (Status s = scan(share_offsets, count); !s) return s;
  shape.shared_bytes = bytes;
  return launch(shared_reorder_kernel<T, B>, shape, a.in, a.keys, a.values, a.offsets, share, share_offsets,
                static_cast<unsigned>(std::bit_width(buckets - 1)));
}

}  // namespace upsweep::multisplit
