// histogram/coarsened: a resident grid; every block counts many samples before it merges.
//
// The grid has at most as many blocks of 256 threads as can be resident. Each block privatises the counters in shared
// memory and counts in a grid-stride loop. Merging takes one atomic addition per counter and block, however large n is.
//
// Traffic   n reads, coalesced; an atomic addition per nonzero counter and block; totals read once more.
// Order     any.
// Source    Gomez-Luna et al., An Optimized Approach to Histogram Computation on GPU, 2013.
#pragma once
#include <algorithm>

#include "kernel/occupancy.h"
#include "ladders/histogram/totals.cuh"

namespace upsweep::ladders::histogram {

template <class T, class O>
__global__ void coarsened_kernel(Input<T, O> in, unsigned* totals) {  // [counters + 1], zero
  unsigned* const counts = dynamic_shared<unsigned>();                // [padded_slot(counters) + 1]
  count_in_shared(in, counts, blockIdx.x, gridDim.x, padded_slot);
  const unsigned counters = in.counters();
  for (unsigned k = threadIdx.x; k <= counters; k += blockDim.x)
    if (const unsigned count = counts[padded_slot(k)]) atomicAdd(&totals[k], count);
}

struct coarsened {
  static constexpr Story story{.idea = "a resident grid in a grid-stride loop; one merge per block",
                               .prediction =
                                   "bound by shared atomics, and by skew: lanes of a warp that hit one "
                                   "counter are serialised",
                               .guarantees = "counts are exact",
                               .limits = "as padded; two launches",
                               .source = "Gomez-Luna et al., An Optimized Approach to Histogram Computation, 2013"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned bytes = padded_bytes(a.in.counters());
    if (bytes > most_shared()) return too_many_counters;
    const unsigned block = a.tuning.block_or(256);
    const std::size_t most = std::size_t(machine().multiprocessors) * resident(bytes, block);
    const std::size_t wanted = ceil_div(a.in.samples.count, std::size_t(block) * 8);
    const Shape shape{.grid = a.tuning.grid_or(std::clamp<std::size_t>(wanted, 1, most)),
                      .block = block,
                      .shared_bytes = bytes,
                      .stream = a.stream};
    return by_totals(a, [&](unsigned* totals) { return launch(coarsened_kernel<T, O>, shape, a.in, totals); });
  }
};

}  // namespace upsweep::ladders::histogram
