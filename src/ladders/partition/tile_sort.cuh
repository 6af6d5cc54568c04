// The elements of a tile in the order of their buckets.
#pragma once
#include "kernel/block.h"

namespace upsweep::ladders::partition {

// A word for each element: its place in the tile in the lower 16 bits, its bucket above them.
inline constexpr unsigned bucket_shift = 16;
inline constexpr unsigned past_the_end = ~0u;  // sorts after every element
// Of buckets' numbers, four bits at a time: 16 counters per warp, whatever the number of buckets.
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
    // 1. The rank of every word among the warp's words of the same digit.
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
    // 2. Where each warp's words of each digit begin.
    unsigned total;
    const unsigned start = block_scan(t < pass_digits * warps ? counts[t] : 0, Sum{}, warp_totals, total);
    if (t < pass_digits * warps) counts[t] = start;
    __syncthreads();
    // 3. The words in the order of the digit.
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r)
      sorted[counts[(words[r] >> shift & (pass_digits - 1)) * warps + warp] + ranks[r]] = words[r];
    __syncthreads();
  }
}

}  // namespace upsweep::ladders::partition
