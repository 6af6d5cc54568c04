// Wrong on purpose: bins include their upper edge, so a sample on the edge between two bins is counted in both.
//
// Must be caught: counts by edges add up to more than the number of samples.
#pragma once
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

template <class T, class O>
__global__ void closed_bins_kernel(Input<T, O> in, Output out) {
  unsigned* const counts = dynamic_shared<unsigned>();  // [counters + 1]
  count_in_shared(in, counts, 0, 1, [](unsigned k) { return k; });
  const unsigned counters = in.counters();
  for (std::size_t i = threadIdx.x; i < in.samples.count; i += blockDim.x) {
    const unsigned k = in.counter_of(i);
    if (k < counters && k % in.bins.count > 0 && in.samples[i] == in.bins.edges[k % in.bins.count])
      atomicAdd(&counts[k - 1], 1u);
  }
  __syncthreads();
  put_counts(out, counts, counters, [](unsigned k) { return k; });
}

struct closed_bins {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "an edge that belongs to two bins",
                               .prediction = "samples on an edge are counted twice"};
  template <class T, class O>
  static constexpr bool supports = O::operation == Binning::edges;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned bytes = (a.in.counters() + 1) * sizeof(unsigned);
    if (bytes > most_shared()) return too_many_counters;
    return launch(closed_bins_kernel<T, O>, {.block = 64, .shared_bytes = bytes, .stream = a.stream}, a.in, a.out);
  }
};

}  // namespace upsweep::ladders::histogram
