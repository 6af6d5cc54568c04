// Wrong on purpose: ordered_writeback without the wait. Each block adds to the result with plain loads and stores as
// soon as it has counted.
//
// Must be caught: a race in global memory between two blocks, and counts that are too small.
#pragma once
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

template <class T, class O>
__global__ void unordered_merge_kernel(Input<T, O> in, Output out) {
  unsigned* const counts = dynamic_shared<unsigned>();  // [padded_slot(counters) + 1]
  count_in_shared(in, counts, blockIdx.x, gridDim.x, padded_slot);
  const unsigned counters = in.counters();
  for (unsigned k = threadIdx.x; k < counters; k += blockDim.x)
    out.put(k, (blockIdx.x > 0 ? out.get(k) : 0) + counts[padded_slot(k)]);
  if (threadIdx.x == 0 && out.outside)
    out.put_outside((blockIdx.x > 0 ? *out.outside : 0) + counts[padded_slot(counters)]);
}

struct unordered_merge {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "unordered merges by plain additions",
                               .prediction = "a race in global memory between two blocks"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned bytes = padded_bytes(a.in.counters());
    if (bytes > most_shared()) return too_many_counters;
    return launch(unordered_merge_kernel<T, O>, {.grid = 8, .block = 32, .shared_bytes = bytes, .stream = a.stream},
                  a.in, a.out);
  }
};

}  // namespace upsweep::ladders::histogram
