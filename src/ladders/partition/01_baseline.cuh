// partition/baseline: three kernels; global atomics count the keys and assign the offsets.
//
// One thread per key increments its bucket's counter. A single thread scans the counters into offsets. Then one thread
// per key claims the next offset of its bucket by an atomic addition, in contention with every other key of that
// bucket, and writes the key there.
//
// Traffic   n keys read twice, values once; 2 n atomic additions in L2, half of which return a value; n writes of a key
//           and a value, one sector each.
// Order     any within a bucket.
// Source    He, Yang, Fang, Lu, Govindaraju, Luo, Sander, Relational Joins on Graphics Processors, 2008 (split).
#pragma once
#include "ladders/partition/add_up.cuh"

namespace upsweep::ladders::partition {

template <class T, class O>
__global__ void baseline_kernel(Input<T, O> in,
                                Counter* counts) {  // [buckets], zero
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < in.n) atomicAdd(&counts[in.bucket_of(i)], 1ull);
}

struct baseline {
  static constexpr Story story{.idea = "one thread per key; global atomics count and assign the offsets",
                               .prediction = "bound by L2 atomics: one per clock if keys share a bucket",
                               .guarantees = "offsets are exact; any order within a bucket",
                               .limits = "any n; three launches",
                               .source = "He et al., Relational Joins on Graphics Processors, 2008"};
  static constexpr bool any_order = true;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const Shape shape = thread_per_key(a.in.n, a.tuning.block_or(256), a.stream);
    return by_next_offset(a, shape,
                          [&](Counter* counts) { return launch(baseline_kernel<T, O>, shape, a.in, counts); });
  }
};

}  // namespace upsweep::ladders::partition
