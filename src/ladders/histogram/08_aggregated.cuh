// histogram/aggregated: lanes of a warp that share a counter elect one to add for all of them.
//
// No shared memory is used, so the number of counters is not limited: L2 performs the additions. Under skew, up to 32
// additions to one address become one.
//
// Traffic   n reads, 16 bytes per access; an atomic addition in L2 per distinct counter and warp-wide step.
// Order     any.
// Source    Adinets, CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics, 2014.
#pragma once
#include "ladders/histogram/steps.cuh"
#include "ladders/histogram/totals.cuh"

namespace upsweep::ladders::histogram {

template <Search search, class T, class O>
__global__ void __launch_bounds__(1024, 1)
    aggregated_kernel(Input<T, O> in, Steps<T> steps, unsigned* totals) {  // [counters + 1], zero
  const unsigned lane = threadIdx.x % warp_size;
  constexpr unsigned none = ~0u;
  for_each_slot(in.samples, steps, steps.share(blockIdx.x, gridDim.x), slots_of<search>(in),
                [&](unsigned slot, auto present) {
                  const unsigned same = __match_any_sync(all_lanes, present ? slot : none);
                  if (present && lane == lowest_bit(same))
                    atomicAdd(&totals[slot], static_cast<unsigned>(__popc(same)));
                });
}

struct aggregated {
  static constexpr Story story{.idea = "one atomic addition in L2 per distinct counter of a warp-wide step",
                               .prediction = "bound by L2's atomic units: faster than coarsened from 2^16 bins on",
                               .guarantees = "counts are exact",
                               .limits = "any n, any number of counters; two launches",
                               .source = "Adinets, Optimized Filtering with Warp-Aggregated Atomics, 2014"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned block = a.tuning.block_or(steps_block);
    if (!whole_warps(block)) return not_whole_warps;
    const Steps<T> steps(a.in.samples);
    const Shape shape{.grid = a.tuning.grid_or(steps.grid(block)), .block = block, .stream = a.stream};
    return by_totals(a, [&](unsigned* totals) {
      return by_search(a.in, [&]<Search search>(Chosen<search>) {
        return launch(aggregated_kernel<search, T, O>, shape, a.in, steps, totals);
      });
    });
  }
};

}  // namespace upsweep::ladders::histogram
