// histogram/word_columns: 32-bit counters in 1 to 32 columns, and one block per multiprocessor, which reads ahead.
//
// lane_banks has 16-bit counters: it must flush, and it adds 1 or 2^16. 32-bit words need no flush, and their addend is
// always 1, so the hardware can merge the additions of lanes that hit the same word. A block of 1024 threads has a
// multiprocessor to itself and an equal share of the samples, and loads the next packs while it counts the previous
// ones (steps.cuh). The kernel is instantiated per method of finding bins: if a shift suffices, it contains nothing
// else.
//
// Traffic   n reads, 16 bytes per access; an atomic addition per nonzero counter and block; totals read once.
// Order     any.
// Source    Nugteren et al., High Performance Predictable Histogramming on GPUs, 2011.
#pragma once
#include "ladders/histogram/totals.cuh"
#include "ladders/histogram/word_columns.cuh"

namespace upsweep::ladders::histogram {

// Block-wide: counts the samples of a share in shared memory. The counts may be read on return, and the previous
// launch's results may be overwritten.
template <Search search, class T, class O>
__device__ __forceinline__ void count_share(const Input<T, O>& in, const Steps<T>& steps, StepRange share,
                                            const WordColumns& table, unsigned* words) {  // [slots][columns], shared
  allow_next_launch();
  prefetch_first_steps(in.samples, share);
  table.clear(words);
  wait_for_previous();
  __syncthreads();
  for_each_slot(in.samples, steps, share, slots_of<search>(in), [&](unsigned slot, auto present) {
    if (present) table.count(words, slot);
  });
  __syncthreads();
}

template <Search search, class T, class O>
__global__ void __launch_bounds__(steps_block, 1) word_columns_kernel(Input<T, O> in, Steps<T> steps, WordColumns table,
                                                                      unsigned* totals) {  // [counters + 1], zero
  unsigned* const words = dynamic_shared<unsigned>();
  count_share<search>(in, steps, steps.share(blockIdx.x, gridDim.x), table, words);
  table.merge(words, totals);
}

// Counts few samples with a single block, whose counts are the result: it needs no totals, and writes the caller's
// counters.
template <Search search, class T, class O>
__global__ void __launch_bounds__(steps_block, 1)
    few_samples_kernel(Input<T, O> in, Steps<T> steps, WordColumns table, Output out) {
  unsigned* const words = dynamic_shared<unsigned>();
  count_share<search>(in, steps, {0, steps.count}, table, words);
  for (unsigned k = threadIdx.x; k < table.slots; k += blockDim.x)
    if (k + 1 < table.slots)
      out.put(k, table.sum(words, k));
    else
      out.put_outside(table.sum(words, k));
}

struct word_columns {
  static constexpr Story story{
      .idea = "32-bit counters in 1 to 32 columns, no flush; one block per multiprocessor reads ahead",
      .prediction = "0.95 of the read ceiling up to 58'000 counters, whatever the skew",
      .guarantees = "counts are exact",
      .limits = "any n; up to 58'111 counters; two launches, or one for up to 16 KB of samples",
      .source = "Nugteren et al., High Performance Predictable Histogramming on GPUs, 2011"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    StepsLaunch<T> plan(a);
    if (!plan.valid()) return not_whole_warps;
    const WordColumns table(a.in.counters() + 1, plan.samples_per_block());
    if (!table.fit()) return too_many_counters;
    plan.shape.shared_bytes = table.bytes();
    return by_search(a.in, [&]<Search search>(Chosen<search>) {
      if (plan.blocks() == 1)
        return launch(few_samples_kernel<search, T, O>, plan.shape, a.in, plan.steps, table, a.out);
      return by_totals(a, [&](unsigned* totals) {
        return launch(word_columns_kernel<search, T, O>, plan.shape, a.in, plan.steps, table, totals);
      });
    });
  }
};

}  // namespace upsweep::ladders::histogram
