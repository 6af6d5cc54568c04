// Wrong on purpose: even bins of floats come from a product with the rounded quotient bins / (upper - lower), not from
// their edges.
//
// Must be caught: samples on an edge, or just below one, are counted in the neighbouring bin.
#pragma once
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

template <class T, class O>
__global__ void rounded_scale_kernel(Input<T, O> in, Output out) {
  unsigned* const counts = dynamic_shared<unsigned>();  // [counters + 1]
  const unsigned counters = in.counters(), bins = in.bins.count;
  for (unsigned k = threadIdx.x; k <= counters; k += blockDim.x) counts[k] = 0;
  __syncthreads();
  const T scale = static_cast<T>(bins) / (in.bins.upper - in.bins.lower);
  for (std::size_t i = threadIdx.x; i < in.samples.count; i += blockDim.x) {
    const T x = in.samples[i];
    const bool inside = x >= in.bins.lower && x < in.bins.upper;
    const unsigned bin = inside ? static_cast<unsigned>((x - in.bins.lower) * scale) : 0;
    atomicAdd(&counts[inside ? in.samples.channel(i) * bins + (bin < bins ? bin : bins - 1) : counters], 1u);
  }
  __syncthreads();
  put_counts(out, counts, counters, [](unsigned k) { return k; });
}

struct rounded_scale {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "a rounded scale instead of edges",
                               .prediction = "samples on an edge are counted in the bin below it"};
  template <class T, class O>
  static constexpr bool supports = O::operation == Binning::even&& std::is_floating_point_v<T>;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned bytes = (a.in.counters() + 1) * sizeof(unsigned);
    if (bytes > most_shared()) return too_many_counters;
    return launch(rounded_scale_kernel<T, O>, {.block = 64, .shared_bytes = bytes, .stream = a.stream}, a.in, a.out);
  }
};

}  // namespace upsweep::ladders::histogram
