// partition/baseline: three kernels; counters and offsets by atomics in global memory.
//
// A thread per key adds 1 to the counter of its bucket. One thread adds the counters up, which gives the offsets. Then
// a thread per key takes the next offset of its bucket, which every other key of the bucket wants too, and writes
// there.
//
// Traffic   n keys read twice, values once; 2 n atomic additions in L2, half of which return a value; n writes of a key
//           and a value, a sector each.
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
  static constexpr Story story{.idea = "a thread per key; counters and offsets by global atomics",
                               .prediction = "bound by atomics in L2, one per clock where keys share a bucket",
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
