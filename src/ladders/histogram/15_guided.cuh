// histogram/guided: a guide table of cells of equal width leads each sample to its edges.
//
// A binary search among 256 edges is eight dependent loads. Instead, the range is divided into cells of equal width,
// and a table gives, per cell, the number of edges before it and the number in it. Most cells contain no edge, so one
// load, without a comparison, gives the number of edges at or below a sample: its bin number plus one. In a cell with
// edges, the sample is compared with those edges. The result is exact for any edges: rounding is monotonic, so a sample
// is above all edges in earlier cells.
//
// Traffic   n reads, 16 bytes per access; the edges once per block; an atomic addition per nonzero counter and block.
// Order     any.
// Source    Chen, Asau, On Generating Random Variates from an Empirical Distribution (guide tables), 1974.
#pragma once
#include "ladders/histogram/guide_table.cuh"
#include "ladders/histogram/totals.cuh"
#include "ladders/histogram/word_columns.cuh"

namespace upsweep::ladders::histogram {

template <class T, class O>
__global__ void __launch_bounds__(steps_block, 1)
    guided_kernel(Input<T, O> in, Steps<T> steps, WordColumns table, GuideShape guide,
                  unsigned* totals) {                  // [counters + 1], zero
  unsigned* const words = dynamic_shared<unsigned>();  // [table.slots][columns], then the guide
  const StepRange share = steps.share(blockIdx.x, gridDim.x);
  allow_next_launch();
  prefetch_first_steps(in.samples, share);
  table.clear(words);
  wait_for_previous();
  const GuideTable<T> edges_below(guide, in.bins,
                                  reinterpret_cast<unsigned char*>(words + table.slots * table.columns));
  const unsigned per_channel = guide.slots();
  for_each_slot(
      in.samples, steps, share,
      [&]<unsigned n>(const T(&x)[n], unsigned column, unsigned(&slots)[n]) {
        T ordered[n];
#pragma unroll
        for (unsigned k = 0; k < n; ++k) ordered[k] = in.bins.ordered(x[k]);
        edges_below(ordered, slots);
        if (in.samples.channels == 1) return;
#pragma unroll
        for (unsigned k = 0; k < n; ++k) slots[k] += channel_of(column + k, in.samples.channels) * per_channel;
      },
      [&](unsigned slot, auto present) {
        if (present) table.count(words, slot);
      });
  __syncthreads();
  // If the last bin is closed and its upper edge is the largest value of the type, samples on that edge are counted in
  // the slot above all bins, but belong to the last bin.
  const T last = in.bins.edge(guide.count);
  const unsigned bins_end = in.bins.closed && GuideTable<T>::after(last) == last ? per_channel : per_channel - 1;
  table.merge(words, totals, [&](unsigned slot) {
    const unsigned channel = slot / per_channel, below = slot % per_channel;
    if (below == 0 || below == bins_end) return in.counters();
    return channel * guide.count + (below <= guide.count ? below : guide.count) - 1;
  });
}

struct guided {
  static constexpr Story story{.idea = "a guide table leads a sample to its edges; mostly one load, no comparison",
                               .prediction = "0.8 of the read ceiling for 256 random edges, 5 times the binary search",
                               .guarantees = "counts are exact",
                               .limits = "any n; edges of up to 4096 bins; samples of 4 bytes",
                               .source = "Chen, Asau, guide tables, 1974"};
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class O>
  static constexpr bool supports = O::operation == Binning::edges && sizeof(T) == 4;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    StepsLaunch<T> plan(a);
    if (!plan.valid()) return not_whole_warps;
    const unsigned channels = a.in.samples.channels;
    const GuideShape guide(a.in.bins.count, channels, plan.samples_per_block(), machine());
    if (!guide.fits(channels, machine()))
      return {Code::unsupported, 0, "guided takes up to 4096 bins; all channels' counters must fit in shared memory"};
    const WordColumns table(channels * guide.slots(), plan.samples_per_block(), guide.bytes());
    plan.shape.shared_bytes = table.bytes() + guide.bytes();
    return by_totals(a, [&](unsigned* totals) {
      return launch(guided_kernel<T, O>, plan.shape, a.in, plan.steps, table, guide, totals);
    });
  }
};

}  // namespace upsweep::ladders::histogram
