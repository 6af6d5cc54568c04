// histogram/guided: a table of cells leads a sample to its edges.
//
// A binary search among 256 edges is eight loads that wait for each other. Instead, the range is divided into equal
// cells, and a table has, for each of them, the number of edges before it and in it: mostly none in it, so that one
// load and no comparison counts the edges that are not above a sample. Their number less one is the bin. A sample of a
// cell with edges in it is compared with these. Whatever the edges are, the answer is exact: rounding is monotonic, so
// a sample is above all edges of the cells before its own.
//
// Traffic   n reads, 16 bytes per access; the edges once per block; an atomic addition per nonzero counter and block.
// Order     any.
// Source    Chen, Asau, On Generating Random Variates from an Empirical Distribution (guide tables), 1974.
#pragma once
#include "ladders/histogram/totals.cuh"
#include "ladders/histogram/word_columns.cuh"

namespace upsweep::ladders::histogram {

// The table in shared memory.
template <class T>
struct GuideTable {
  const T* edges;          // [count + 1]
  const unsigned* ranges;  // [cells + 1]: the number of edges before the cell, and 2^16 times the number in it
  unsigned count, cells;
  T first;
  float scale;  // cells per unit

  __device__ __forceinline__ unsigned cell_of(T x) const {
    float distance;
    if constexpr (std::is_integral_v<T>)
      distance =
          static_cast<float>(static_cast<std::uint32_t>(x < first ? first : x) - static_cast<std::uint32_t>(first));
    else
      distance = x - first;
    const unsigned place = truncated(distance * scale);  // NaN is in cell 0; so is every sample if an edge is infinite
    return place < cells ? place : cells;
  }
  // Counts the edges that are not above each of a pack's samples: first those in the cells before its own.
  template <unsigned n>
  __device__ __forceinline__ void operator()(const T (&x)[n], unsigned (&below)[n]) const {
    unsigned range[n], several = 0;
#pragma unroll
    for (unsigned k = 0; k < n; ++k) range[k] = ranges[cell_of(x[k])];
#pragma unroll
    for (unsigned k = 0; k < n; ++k) {
      below[k] = range[k] & 0xffff;
      if (range[k] >> 16) below[k] += x[k] >= edges[below[k]];
      several |= range[k] >> 17;
    }
    if (!several) return;
#pragma unroll
    for (unsigned k = 0; k < n; ++k) {
      const unsigned before = range[k] & 0xffff;
      below[k] = first_edge(before, before + (range[k] >> 16), [&](T edge) { return !(x[k] >= edge); });
    }
  }

  // Block-wide: copies the edges to shared memory and fills the table; ends with a barrier. If the last bin is closed,
  // it ends at the next number after its edge.
  template <class B>
  __device__ GuideTable(const GuideShape& guide, const B& bins, unsigned char* memory) {
    T* const copied = reinterpret_cast<T*>(memory);  // each takes a word
    auto* const filled = reinterpret_cast<unsigned*>(memory) + guide.count + 1;
    edges = copied, ranges = filled, count = guide.count, cells = guide.cells;
    for (unsigned k = threadIdx.x; k <= count; k += blockDim.x)
      copied[k] = k == count && bins.closed ? after(bins.edge(k)) : bins.edge(k);
    __syncthreads();
    first = edges[0];
    const T last = edges[count];
    float width;
    if constexpr (std::is_integral_v<T>)
      width = static_cast<float>(static_cast<std::uint32_t>(last) - static_cast<std::uint32_t>(first));
    else
      width = last - first;
    scale = static_cast<float>(cells) / width;
    const auto before = [&](unsigned cell) {
      return first_edge(0, count + 1, [&](T edge) { return cell_of(edge) >= cell; });
    };
    for (unsigned c = threadIdx.x; c <= cells; c += blockDim.x)
      filled[c] = before(c) | (before(c + 1) - before(c)) << 16;
    __syncthreads();
  }

  // The next number after x; x if there is none.
  static __device__ T after(T x) {
    if constexpr (std::is_integral_v<T>)
      return x < std::numeric_limits<T>::max() ? x + 1 : x;
    else
      return std::nextafter(x, std::numeric_limits<T>::infinity());
  }

 private:
  // The first of edges [from, to) that `after` is true of, as it is of those behind it; `to` if none.
  template <class After>
  __device__ unsigned first_edge(unsigned from, unsigned to, After&& after) const {
    while (from < to) {
      const unsigned middle = (from + to) / 2;
      if (after(edges[middle]))
        to = middle;
      else
        from = middle + 1;
    }
    return from;
  }
};

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
  // Above all bins there is nothing but the last edge, if that is closed and the greatest number of all.
  const T last = in.bins.edge(guide.count);
  const unsigned bins_end = in.bins.closed && GuideTable<T>::after(last) == last ? per_channel : per_channel - 1;
  table.merge(words, totals, [&](unsigned slot) {
    const unsigned channel = slot / per_channel, below = slot % per_channel;
    if (below == 0 || below == bins_end) return in.counters();
    return channel * guide.count + (below <= guide.count ? below : guide.count) - 1;
  });
}

struct guided {
  static constexpr Story story{.idea = "a table of cells leads a sample to its edges; mostly one load, no comparison",
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
      return {Code::unsupported, 0, "guided takes up to 4096 bins, of which shared memory has room for all channels'"};
    const WordColumns table(channels * guide.slots(), plan.samples_per_block(), guide.bytes());
    plan.shape.shared_bytes = table.bytes() + guide.bytes();
    return by_totals(a, [&](unsigned* totals) {
      return launch(guided_kernel<T, O>, plan.shape, a.in, plan.steps, table, guide, totals);
    });
  }
};

}  // namespace upsweep::ladders::histogram
