// partition/shared_scan: the offsets by a Hillis-Steele scan in shared memory.
//
// One thread needs a trip to L2 per bucket to add the counts up. Here one block does: every count adds its neighbour at
// distance 1, 2, 4, ..., which makes inclusive sums; less its own count, a sum is exclusive. More buckets than threads
// are scanned a chunk at a time, each chunk after the sum of the chunks before.
//
// Traffic   as coarsened; counts and offsets read and written once, coalesced; ceil(log2(block)) + 2 barriers a chunk.
// Order     any within a bucket.
// Source    Hillis, Steele, Data Parallel Algorithms, 1986.
#pragma once
#include "ladders/partition/shared_counts.cuh"

namespace upsweep::ladders::partition {

static __global__ void shared_scan_kernel(Counter* counts,  // [buckets], left zero
                                          Counter* next,    // [buckets]
                                          Offsets offsets, unsigned buckets) {
  Counter *from = dynamic_shared<Counter>(), *to = from + blockDim.x;  // [blockDim.x] each
  const unsigned t = threadIdx.x;
  Counter before = 0;  // the keys of earlier chunks
  for (unsigned first = 0; first < buckets; first += blockDim.x) {
    const unsigned b = first + t;
    const Counter count = b < buckets ? counts[b] : 0;
    Counter sum = count;  // of the `distance` counts up to t
    from[t] = sum;
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
      __syncthreads();
      if (t >= distance) sum += from[t - distance];
      to[t] = sum;
      Counter* const old = from;
      from = to;
      to = old;
    }
    __syncthreads();
    if (b < buckets) {
      next[b] = before + sum - count;
      offsets.put(b, before + sum - count);
      counts[b] = 0;
    }
    before += from[blockDim.x - 1];
    __syncthreads();  // the next chunk overwrites it
  }
  if (t == 0) offsets.put(buckets, before);
}

struct shared_scan {
  static constexpr Story story{.idea = "coarsened, its offsets by a Hillis-Steele scan in shared memory",
                               .prediction = "what one thread took, 0.3 us a bucket, is gone: ahead when n is small",
                               .guarantees = "offsets are exact; any order within a bucket",
                               .limits = "any n; three launches",
                               .source = "Hillis, Steele, Data Parallel Algorithms, 1986"};
  static constexpr bool any_order = true;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const Shape shape = resident_shape(a, a.tuning.block_or(1024), 8);
    return by_next_offset(
        a, shape, [&](Counter* counts) { return count_by_blocks(a, shape, counts); },
        [&](Counter* counts, Counter* next) {
          const unsigned block = a.tuning.block_or(1024);
          return launch(shared_scan_kernel,
                        {.block = block, .shared_bytes = 2 * block * sizeof(Counter), .stream = a.stream}, counts, next,
                        a.offsets, a.in.buckets.count);
        });
  }
};

}  // namespace upsweep::ladders::partition
