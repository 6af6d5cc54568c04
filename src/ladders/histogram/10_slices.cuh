// histogram/slices: counters that exceed one block's shared memory are divided into slices, one per block.
//
// The blocks of a group, one per slice, all read the group's share of the samples, and each counts those in its slice.
// They run concurrently, so all but the first to read a pack hit in L2, and memory traffic stays at n reads.
//
// Traffic   n reads from memory, and n from L2 per further slice; an atomic addition per nonzero counter and group;
//           totals read once.
// Order     any.
// Source    Shams, Kennedy, Efficient Histogram Algorithms for NVIDIA CUDA Compatible Devices, 2007 (ranges of bins).
#pragma once
#include "ladders/histogram/steps.cuh"
#include "ladders/histogram/totals.cuh"

namespace upsweep::ladders::histogram {

template <Search search, class T, class O>
__global__ void __launch_bounds__(steps_block, 1)
    slices_kernel(Input<T, O> in, Steps<T> steps, unsigned slices, unsigned slice_size,
                  unsigned* totals) {                   // [counters + 1], zero
  unsigned* const counts = dynamic_shared<unsigned>();  // [slice_size]
  const unsigned first = blockIdx.x % slices * slice_size, slots = in.counters() + 1;
  const StepRange share = steps.share(blockIdx.x / slices, gridDim.x / slices);
  allow_next_launch();
  prefetch_first_steps(in.samples, share);
  for (unsigned k = threadIdx.x; k < slice_size; k += blockDim.x) counts[k] = 0;
  wait_for_previous();
  __syncthreads();
  for_each_slot(in.samples, steps, share, slots_of<search>(in), [&](unsigned slot, auto present) {
    const unsigned k = slot - first;  // wraps to a large number if slot < first
    if (present && k < slice_size) atomicAdd(&counts[k], 1u);
  });
  __syncthreads();
  for (unsigned k = threadIdx.x; k < slice_size && first + k < slots; k += blockDim.x)
    if (counts[k]) atomicAdd(&totals[first + k], counts[k]);
}

struct slices {
  static constexpr Story story{
      .idea = "a slice of the counters per block; the blocks of a group share reads through L2",
      .prediction = "half of word_columns with two slices; faster than aggregated up to 2^20 bins",
      .guarantees = "counts are exact",
      .limits = "any n, any number of counters; two launches",
      .source = "Shams, Kennedy, Efficient Histogram Algorithms, 2007"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    StepsLaunch<T> plan(a);
    if (!plan.valid()) return not_whole_warps;
    const auto count = static_cast<unsigned>(slices_of(a.in.counters(), machine()));
    const auto size = static_cast<unsigned>(ceil_div(a.in.counters() + 1, count));
    // A grid of whole groups, at least one. On a GPU with fewer multiprocessors than slices, the only group runs in
    // several waves.
    const unsigned groups = plan.blocks() / count;
    plan.shape.grid = (groups < 1 ? 1 : groups) * count;
    plan.shape.shared_bytes = size * sizeof(unsigned);
    return by_totals(a, [&](unsigned* totals) {
      return by_search(a.in, [&]<Search search>(Chosen<search>) {
        return launch(slices_kernel<search, T, O>, plan.shape, a.in, plan.steps, count, size, totals);
      });
    });
  }
};

}  // namespace upsweep::ladders::histogram
