// Wrong on purpose: the offsets come from an inclusive scan, so that a bucket seems to begin where it ends.
//
// Must be caught: the keys are right, but every offset is the next bucket's.
#pragma once
#include "ladders/partition/scatter.cuh"

namespace upsweep::ladders::partition {

static __global__ void inclusive_kernel(Counter* counts,  // [buckets]
                                        Counter* next,    // [buckets]
                                        Offsets offsets, unsigned buckets) {
  Counter sum = 0;
  for (unsigned b = 0; b < buckets; ++b) {
    next[b] = sum;
    sum += counts[b];
    offsets.put(b, sum);
    counts[b] = 0;
  }
  offsets.put(buckets, sum);
}

struct inclusive_offsets {
  static constexpr bool expected_wrong = true;
  static constexpr bool any_order = true;
  static constexpr Story story{.idea = "offsets by an inclusive scan", .prediction = "every offset is one bucket off"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const Shape shape{.block = 64, .stream = a.stream};
    return by_next_offset(
        a, shape, [&](Counter* counts) { return count_by_blocks(a, shape, counts); },
        [&](Counter* counts, Counter* next) {
          return launch(inclusive_kernel, {.stream = a.stream}, counts, next, a.offsets, a.in.buckets.count);
        });
  }
};

}  // namespace upsweep::ladders::partition
