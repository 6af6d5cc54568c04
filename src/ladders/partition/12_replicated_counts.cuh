// partition/replicated_counts: one launch for few keys; every block counts all keys.
//
// lane_counters takes three launches, because its blocks exchange counts through memory between kernels. Few keys are
// faster to count redundantly: each block reads all keys from L2 and counts, in shared memory, the keys of each bucket
// and how many of these precede the block's own keys. So a block computes the offsets of its keys without another
// block's counts, and no counters in global memory have to be cleared. A key is ranked within the block by comparing
// its bucket with those of the block's earlier keys.
//
// Traffic   keys read once by every block, from L2, and written once, scattered; values read and written once.
// Order     stable.
#pragma once
#include "kernel/block.h"
#include "kernel/ptx.h"
#include "ladders/partition/choose.h"

namespace upsweep::ladders::partition {

inline constexpr unsigned replicated_block = 1024, max_own = 256;

// A block's counters, in shared memory. Each packs two 16-bit counts: all keys of the bucket (lower half) and those
// before this block's own keys (upper half). With up to 2048 buckets, every counter has four copies, indexed by thread
// % 4, because atomics on one word serialise when keys share a bucket. With more buckets there is one copy, and each
// thread sums consecutive counters; one word of padding per 32 avoids bank conflicts.
struct ReplicatedCounters {
  static constexpr unsigned before = 1 << 16, mask = before - 1, max_keys = mask;
  unsigned tables;
  UPSWEEP_HD explicit ReplicatedCounters(unsigned buckets) : tables(buckets <= 1 << 11 ? 4 : 1) {}
  UPSWEEP_HD unsigned slot(unsigned bucket) const { return tables == 4 ? bucket * 4 : bucket + bucket / warp_size; }
  // Returns the sum of a bucket's copies.
  __device__ unsigned sum(const unsigned* counters, unsigned bucket) const {
    if (tables == 1) return counters[slot(bucket)];
    const uint4 four = reinterpret_cast<const uint4*>(counters)[bucket];
    return four.x + four.y + four.z + four.w;
  }
};

template <class T, class O>
__global__ void __launch_bounds__(replicated_block)
    replicated_counts_kernel(Input<T, O> in, T* out, Values values, Offsets offsets,
                             unsigned own) {                 // keys per block, a power of two from 32 to max_own
  constexpr unsigned block = replicated_block, at_once = 8;  // loads in flight per thread
  // At first the counters; then, per bucket, the output offset of the block's first key in the bucket (lower half) and
  // of the bucket (upper half).
  unsigned* const counts = dynamic_shared<unsigned>();
  __shared__ unsigned own_bucket[max_own], warp_totals[warp_size];
  const unsigned t = threadIdx.x, n = static_cast<unsigned>(in.n), first = blockIdx.x * own;
  const unsigned buckets = in.buckets.count;
  const ReplicatedCounters counters(buckets);
  for (unsigned w = t; w < counters.slot(buckets); w += block) counts[w] = 0;
  allow_next_launch();
  wait_for_previous();
  // 1. Load the key that this thread will write, if any, and count all keys. Step 3 uses `lanes` lanes to rank a key.
  const unsigned lanes = block / own, key = t / lanes, lane = t % lanes;
  Pair<T> written;
  const bool writes = lane == 0 && first + key < n;
  if (writes) written.load(in.keys, values, first + key);
  for (unsigned from = t; from - t < n; from += at_once * block) {
    T some[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      if (const unsigned i = from + k * block; i < n) some[k] = in.keys[i];
    if (from == t) __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      if (const unsigned i = from + k * block; i < n) {
        const unsigned bucket = in.buckets(some[k]);
        atomicAdd(&counts[counters.slot(bucket) + t % counters.tables], i < first ? counters.before + 1 : 1);
        if (i - first < own) own_bucket[i - first] = bucket;
      }
  }
  __syncthreads();
  // 2. Find the offset of each bucket's first key; each block writes a part of the offsets.
  const unsigned per_thread = static_cast<unsigned>(ceil_div(buckets, block));
  const unsigned begin = t * per_thread, end = begin + per_thread < buckets ? begin + per_thread : buckets;
  unsigned sum = 0, total;
  for (unsigned b = begin; b < end; ++b) sum += counters.sum(counts, b) & counters.mask;
  unsigned start = block_scan(sum, Sum{}, warp_totals, total);
  for (unsigned b = begin; b < end; ++b) {
    const unsigned count = counters.sum(counts, b);
    counts[counters.slot(b)] = start << 16 | (start + count / counters.before);
    start += count & counters.mask;
  }
  __syncthreads();
  for (unsigned b = blockIdx.x * block + t; b <= buckets; b += gridDim.x * block)
    offsets.put(b, b < buckets ? counts[counters.slot(b)] >> 16 : n);
  // 3. Rank the key among the block's own keys of its bucket.
  unsigned rank = 0, bucket = 0;
  if (first + key < n) {
    bucket = own_bucket[key];
    for (unsigned k = lane; k < key; k += lanes) rank += own_bucket[k] == bucket;
  }
  for (unsigned distance = 1; distance < lanes; distance *= 2)
    rank += __shfl_xor_sync(all_lanes, rank, static_cast<int>(distance));
  if (!writes) return;
  written.store(out, values, (counts[counters.slot(bucket)] & 0xffff) + rank);
}

struct replicated_counts {
  static constexpr Needs needs = replicated_counts_needs(2);  // for two buckets; more buckets need more
  static constexpr Story story{
      .idea = "few keys in one launch: every block counts all of them and exchanges nothing",
      .prediction = "3.2 us for 2^10 keys, 4 for 2^12, 5 for 2^14, where lane_counters takes 14",
      .guarantees = "stable",
      .limits = "up to 2^15 keys; as many buckets as shared memory has counters for; block size fixed",
      .source = {}};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest_emulated = 1 << 12;
  static constexpr std::size_t largest = replicated_most;
  static_assert(largest <= ReplicatedCounters::max_keys);
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.n > largest) return {Code::unsupported, 0, "this rung takes up to 2^15 keys"};
    if (!machine().meets(replicated_counts_needs(a.in.buckets.count)))
      return {Code::unsupported, 0, "too many buckets for the shared memory of a block"};
    // At most 128 blocks, because each reads all keys: with 256 blocks, 2^13 keys take 6.8 us instead of 3.8 us (H200).
    unsigned own = 64;
    while (a.in.n > std::size_t(128) * own) own *= 2;
    static_assert(largest <= 128 * max_own);
    const ReplicatedCounters counters(a.in.buckets.count);
    return launch(replicated_counts_kernel<T, O>,
                  {.grid = a.in.n ? static_cast<unsigned>(ceil_div(a.in.n, own)) : 1,
                   .block = replicated_block,
                   .shared_bytes = counters.slot(a.in.buckets.count) * sizeof(unsigned),
                   .overlap = true,
                   .stream = a.stream},
                  a.in, a.keys, a.values, a.offsets, own);
  }
};

}  // namespace upsweep::ladders::partition
