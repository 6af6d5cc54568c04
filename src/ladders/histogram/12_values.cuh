// histogram/values: bytes are counted by value, and a value's bin is found once per block, at the end.
//
// At the memory's speed a multiprocessor has two clocks for 32 bytes: enough for their addresses and the additions, not
// for bins. There are 256 values, whatever the bins; 32 columns for each keep the lanes apart. One block of 1024
// threads per multiprocessor has four packs per thread in flight, and merges once.
//
// Traffic   n reads, 16 bytes per access; an atomic addition per value that occurs, channel and block; totals read
//           once.
// Order     any.
// Source    the domain of the samples; columns as in word_columns.
#pragma once
#include "ladders/histogram/11_until_full.cuh"
#include "ladders/histogram/totals.cuh"

namespace upsweep::ladders::histogram {

template <unsigned Channels, class O>
__global__ void __launch_bounds__(steps_block, 1)
    values_kernel(Input<std::uint8_t, O> in, Steps<std::uint8_t> steps, unsigned* totals) {  // [counters + 1], zero
  constexpr unsigned rows = 256 * Channels;
  unsigned* const words = dynamic_shared<unsigned>();  // [Channels][256][32]
  const unsigned lane = threadIdx.x % warp_size, counters = in.counters();
  const StepRange share = steps.share(blockIdx.x, gridDim.x);
  allow_next_launch();
  prefetch_first_steps(in.samples, share);
  for (unsigned w = threadIdx.x; w < rows * warp_size; w += blockDim.x) words[w] = 0;
  wait_for_previous();
  __syncthreads();
  for_each_slot(
      in.samples, steps, share,
      [&]<unsigned n>(const std::uint8_t(&x)[n], unsigned column, unsigned(&slots)[n]) {
        unsigned row_of[Channels];  // of value 0, for the first sample and those after it
#pragma unroll
        for (unsigned c = 0; c < Channels; ++c) row_of[c] = (column % Channels + c) % Channels * 256 * warp_size + lane;
#pragma unroll
        for (unsigned k = 0; k < n; ++k) slots[k] = row_of[k % Channels] + x[k] * warp_size;
      },
      [&](unsigned slot, auto present) {
        if (present) atomicAdd(&words[slot], 1u);
      });
  __syncthreads();
  for (unsigned row = threadIdx.x; row < rows; row += blockDim.x) {
    unsigned sum = 0;
    // Neighbouring threads begin in neighbouring columns: in each step a warp reads 32 banks.
    for (unsigned j = 0; j < warp_size; ++j) sum += words[row * warp_size + (threadIdx.x + j) % warp_size];
    const unsigned bin = in.bins(static_cast<std::uint8_t>(row % 256));
    if (sum) atomicAdd(&totals[bin < in.bins.count ? row / 256 * in.bins.count + bin : counters], sum);
  }
}

struct values {
  static constexpr Story story{.idea = "bytes counted by value in 32 columns; bins found at the end",
                               .prediction = "0.9 of the read ceiling for bytes, whatever the bins; 0.8 of 4 channels",
                               .guarantees = "counts are exact",
                               .limits = "bytes of 8 MB and more in counters that do not saturate, else until_full",
                               .source = "the domain of the samples"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest = largest_counted;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if constexpr (sizeof(T) == 1) {
      // Tiles of 64 KB: with fewer than one per multiprocessor, smaller ones keep more of them busy. With a grid set by
      // the caller it takes any n, so that checks reach it.
      const bool few = a.in.samples.count < 8 << 20 && a.tuning.grid == 0;
      if (!few && a.out.bits > 16) return by_channels(a);
    }
    return until_full::run<T, O>(a);
  }

 private:
  template <class O>
  static Status by_channels(const Args<std::uint8_t, O>& a) {
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
  template <unsigned Channels, class O>
  static Status start(const Args<std::uint8_t, O>& a) {
    const unsigned block = a.tuning.block_or(steps_block);
    if (!whole_warps(block)) return not_whole_warps;
    const Steps<std::uint8_t> steps(a.in.samples);
    const Shape shape{.grid = a.tuning.grid_or(steps.grid(block)),
                      .block = block,
                      .shared_bytes = 256 * Channels * warp_size * sizeof(unsigned),
                      .overlap = true,
                      .stream = a.stream};
    return by_totals(a,
                     [&](unsigned* totals) { return launch(values_kernel<Channels, O>, shape, a.in, steps, totals); });
  }
};

}  // namespace upsweep::ladders::histogram
