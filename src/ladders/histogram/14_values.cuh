// histogram/values: bytes are counted by value; each block finds the bins of the values once, at the end.
//
// At full memory bandwidth, a multiprocessor has two clocks per 32 bytes: enough to compute addresses and add, but not
// to find bins. Counting by value defers the bins to the end, when each block finds them once for all 256 values.
//
// Traffic   n reads, 16 bytes per access; an atomic addition per value that occurs, channel and block; totals read
//           once.
// Order     any.
// Source    the domain of the samples; columns as in word_columns.
#pragma once
#include "ladders/histogram/totals.cuh"
#include "ladders/histogram/word_columns.cuh"

namespace upsweep::ladders::histogram {

template <unsigned Channels, class O>
__global__ void __launch_bounds__(steps_block, 1)
    values_kernel(Input<std::uint8_t, O> in, Steps<std::uint8_t> steps, WordColumns table,
                  unsigned* totals) {                  // [counters + 1], zero
  unsigned* const words = dynamic_shared<unsigned>();  // [Channels][256][columns]
  const StepRange share = steps.share(blockIdx.x, gridDim.x);
  allow_next_launch();
  prefetch_first_steps(in.samples, share);
  table.clear(words);
  wait_for_previous();
  __syncthreads();
  for_each_slot(
      in.samples, steps, share,
      [&]<unsigned n>(const std::uint8_t(&x)[n], unsigned column, unsigned(&slots)[n]) {
        unsigned value_0[Channels];  // [c]: slot of value 0 for samples x[c], x[c + Channels], ...
#pragma unroll
        for (unsigned c = 0; c < Channels; ++c) value_0[c] = (column % Channels + c) % Channels * 256;
#pragma unroll
        for (unsigned k = 0; k < n; ++k) slots[k] = value_0[k % Channels] + x[k];
      },
      [&](unsigned slot, auto present) {
        if (present) table.count(words, slot);
      });
  __syncthreads();
  table.merge(words, totals, [&](unsigned slot) {
    const unsigned bin = in.bins(static_cast<std::uint8_t>(slot % 256));
    return bin < in.bins.count ? slot / 256 * in.bins.count + bin : in.counters();
  });
}

struct values {
  static constexpr Story story{
      .idea = "bytes counted by value, in 1 to 32 columns; bins found at the end",
      .prediction = "0.9 of the read ceiling for bytes, whatever the bins; 0.8 with 4 channels",
      .guarantees = "counts are exact",
      .limits = "any n; samples of one byte",
      .source = "the domain of the samples"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class>
  static constexpr bool supports = sizeof(T) == 1;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    switch (a.in.samples.channels) {
      case 1:
        return start<1>(a);
      case 2:
        return start<2>(a);
      case 3:
        return start<3>(a);
      default:
        return start<4>(a);
    }
  }

 private:
  template <unsigned Channels, class O>
  static Status start(const Args<std::uint8_t, O>& a) {
    StepsLaunch<std::uint8_t> plan(a);
    if (!plan.valid()) return not_whole_warps;
    const WordColumns table(256 * Channels, plan.samples_per_block());
    plan.shape.shared_bytes = table.bytes();
    return by_totals(a, [&](unsigned* totals) {
      return launch(values_kernel<Channels, O>, plan.shape, a.in, plan.steps, table, totals);
    });
  }
};

}  // namespace upsweep::ladders::histogram
