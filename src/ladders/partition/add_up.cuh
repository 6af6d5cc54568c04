// A single-thread scan of the bucket counts.
#pragma once
#include "ladders/partition/scatter.cuh"

namespace upsweep::ladders::partition {

// By one thread: writes the offset of each bucket, the exclusive sum of the counts, to `offsets` and `next`, and zeroes
// the counts.
static __global__ void add_up_kernel(Counter* counts,  // [buckets]
                                     Counter* next,    // [buckets]
                                     Offsets offsets, unsigned buckets) {
  Counter before = 0;
  for (unsigned b = 0; b < buckets; ++b) {
    next[b] = before;
    offsets.put(b, before);
    before += counts[b];
    counts[b] = 0;
  }
  offsets.put(buckets, before);
}

// by_next_offset() with the scan by a single thread.
template <class T, class O, class Count>
Status by_next_offset(const Args<T, O>& a, const Shape& shape, Count&& count) {
  return by_next_offset(a, shape, count, [&](Counter* counts, Counter* next) {
    return launch(add_up_kernel, {.stream = a.stream}, counts, next, a.offsets, a.in.buckets.count);
  });
}

}  // namespace upsweep::ladders::partition
