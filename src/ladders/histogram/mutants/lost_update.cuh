// Wrong on purpose: shared counters are incremented by a load and a store instead of an atomic addition.
//
// Must be caught: a race in shared memory, and counts that are too small.
#pragma once
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

template <class T, class O>
__global__ void lost_update_kernel(Input<T, O> in, Output out) {
  unsigned* const counts = dynamic_shared<unsigned>();  // [counters + 1]
  const unsigned counters = in.counters();
  for (unsigned k = threadIdx.x; k <= counters; k += blockDim.x) counts[k] = 0;
  __syncthreads();
  for (std::size_t i = threadIdx.x; i < in.samples.count; i += blockDim.x) ++counts[in.counter_of(i)];
  __syncthreads();
  put_counts(out, counts, counters, [](unsigned k) { return k; });
}

struct lost_update {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "shared counters without atomics",
                               .prediction = "a race in shared memory, and counts that are too small"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned bytes = (a.in.counters() + 1) * sizeof(unsigned);
    if (bytes > most_shared()) return too_many_counters;
    return launch(lost_update_kernel<T, O>, {.block = 64, .shared_bytes = bytes, .stream = a.stream}, a.in, a.out);
  }
};

}  // namespace upsweep::ladders::histogram
