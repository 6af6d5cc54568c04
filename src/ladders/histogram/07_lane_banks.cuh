// histogram/lane_banks: one bank of shared memory per lane, so that lanes of a warp never conflict.
//
// The table has 32 columns. Lane l counts in column l, which is bank l, so a warp-wide increment takes one wavefront
// for any samples. Counters have 16 bits, two per word. The block adds them to 32-bit totals and clears them before any
// can overflow. Samples are read in packs of 16 bytes.
//
// Traffic   n reads, 16 bytes per access; an atomic addition per nonzero counter, block and flush; totals read once.
// Order     any.
// Source    Shams, Kennedy, Efficient Histogram Algorithms for NVIDIA CUDA Compatible Devices, 2007 (a table per
//           thread); Nugteren et al., High Performance Predictable Histogramming on GPUs, 2011.
#pragma once
#include "kernel/occupancy.h"
#include "kernel/vector.h"
#include "ladders/histogram/totals.cuh"

namespace upsweep::ladders::histogram {

inline constexpr unsigned lane_banks_block = 256;
inline constexpr unsigned largest_half = 0xffff;

// Size in words of a table of `slots` 16-bit counters in 32 columns.
__host__ __device__ constexpr unsigned table_words(unsigned slots) { return (slots + 1) / 2 * warp_size; }

// Block-wide: adds every counter, summed over the columns, to the totals, and clears the table. Begins and ends with a
// barrier.
__device__ inline void flush_table(unsigned* table, unsigned slots, unsigned* totals) {
  __syncthreads();
  for (unsigned k = threadIdx.x; k < slots; k += blockDim.x) {
    unsigned sum = 0;
    // Adjacent threads start in adjacent columns, so that a warp reads 32 different banks per iteration.
    for (unsigned j = 0; j < warp_size; ++j)
      sum += table[k / 2 * warp_size + (threadIdx.x + j) % warp_size] >> 16 * (k & 1) & largest_half;
    if (sum) atomicAdd(&totals[k], sum);
  }
  __syncthreads();
  for (unsigned w = threadIdx.x; w < table_words(slots); w += blockDim.x) table[w] = 0;
  __syncthreads();
}

template <class T, class O>
__global__ void __launch_bounds__(lane_banks_block)
    lane_banks_kernel(Input<T, O> in, unsigned* totals) {  // [counters + 1], zero
  constexpr unsigned size = Pack<T>::size, warps = lane_banks_block / warp_size;
  constexpr std::size_t steps_per_flush = largest_half / (size * warps);
  unsigned* const table = dynamic_shared<unsigned>();  // [table_words(counters + 1)]
  const unsigned slots = in.counters() + 1, lane = threadIdx.x % warp_size;
  for (unsigned w = threadIdx.x; w < table_words(slots); w += blockDim.x) table[w] = 0;
  __syncthreads();

  const auto count = [&](unsigned k) { atomicAdd(&table[k / 2 * warp_size + lane], 1u << 16 * (k & 1)); };
  const Samples<T>& samples = in.samples;
  const PackSplit<T> split(samples.data, samples.count);
  const std::size_t threads = std::size_t(gridDim.x) * blockDim.x;
  const std::size_t thread = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  // All threads of a block execute the same number of iterations, because flush_table() has barriers.
  const std::size_t steps = (split.packs + threads - 1) / threads;
  for (std::size_t step = 0; step < steps; ++step) {
    if (step > 0 && step % steps_per_flush == 0) flush_table(table, slots, totals);
    const std::size_t pack = step * threads + thread;
    if (pack >= split.packs) continue;
    const Pack<T> items = load_pack(split.aligned + pack * size);
#pragma unroll
    for (unsigned k = 0; k < size; ++k) {
      const unsigned bin = in.bins(items.item[k]);
      count(samples.channels == 1 || bin == in.bins.count
                ? (bin < in.bins.count ? bin : slots - 1)
                : samples.channel(split.head + pack * size + k) * in.bins.count + bin);
    }
  }
  flush_table(table, slots, totals);
  if (thread < split.head) count(in.counter_of(thread));
  if (thread < split.tail) count(in.counter_of(samples.count - split.tail + thread));
  flush_table(table, slots, totals);
}

struct lane_banks {
  static constexpr Story story{.idea = "one bank of shared memory per lane: no bank conflicts, whatever the skew",
                               .prediction = "0.85 of the read ceiling for u32 samples and 256 bins, for every input",
                               .guarantees = "counts are exact",
                               .limits = "any n; up to 3600 counters; rows without gaps; fixed block size",
                               .source = "Nugteren et al., High Performance Predictable Histogramming on GPUs, 2011"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.samples.width != a.in.samples.count) return {Code::unsupported, 0, "lane_banks needs rows without gaps"};
    const unsigned bytes = table_words(a.in.counters() + 1) * sizeof(unsigned);
    if (bytes > most_shared()) return too_many_counters;
    const unsigned per_sm = resident(bytes, lane_banks_block);
    const Shape shape{.grid = a.tuning.grid_or(blocks_for<T>(a.in.samples.count, lane_banks_block, 4, per_sm)),
                      .block = lane_banks_block,
                      .shared_bytes = bytes,
                      .stream = a.stream};
    return by_totals(a, [&](unsigned* totals) { return launch(lane_banks_kernel<T, O>, shape, a.in, totals); });
  }
};

}  // namespace upsweep::ladders::histogram
