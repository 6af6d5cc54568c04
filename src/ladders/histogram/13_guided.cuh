// histogram/guided: a table of cells leads a sample to its edges.
//
// A binary search among 256 edges is eight loads that wait for each other. Instead, the range is divided into equal
// cells, at least four per bin, and a table has the bins that each cell meets: mostly one, so that a load and no
// comparison finds it. A sample of a cell with edges in it searches among these. Whatever the edges are, the answer is
// exact: rounding is monotonic, so a sample is above all edges of the cells before its own.
//
// Traffic   n reads, 16 bytes per access; the edges once per block; an atomic addition per nonzero counter and block.
// Order     any.
// Source    Chen, Asau, On Generating Random Variates from an Empirical Distribution (guide tables), 1974.
#pragma once
#include "ladders/histogram/12_values.cuh"
#include "ladders/histogram/totals.cuh"
#include "ladders/histogram/word_columns.cuh"

namespace upsweep::ladders::histogram {

// Up to this many bins, edges and cells take at most half of a block's share of shared memory.
inline constexpr unsigned most_guided = 4096, most_cells = 16384;

template <class T>
struct Guide {
  unsigned count;  // bins
  unsigned cells;  // a power of two

  // The more cells, the fewer of them have edges, and the longer it takes to fill the table: measured up to 16384.
  Guide(unsigned bins, std::size_t samples_per_block) : count(bins), cells(32) {
    while (cells < 4 * bins || (cells < most_cells && cells < samples_per_block / 16)) cells *= 2;
  }
  // One cell more than `cells`: that of samples just below the last edge, if their place is rounded up.
  std::size_t bytes() const { return (cells + 1 + count + 1) * sizeof(unsigned); }
};

// The same in shared memory.
template <class T>
struct GuideTable {
  const T* edges;  // [count + 1]
  const unsigned*
      ranges;  // [cells + 1]: the first bin that a cell meets, and 2^16 times the number of edges in the cell
  unsigned count, cells;
  T first, last;  // edges
  float scale;    // cells per unit

  __device__ unsigned cell_of(T x) const {
    float distance;
    if constexpr (std::is_integral_v<T>)
      distance = static_cast<float>(static_cast<std::uint32_t>(x) - static_cast<std::uint32_t>(first));
    else
      distance = x - first;
    return truncated(distance * scale);  // NaN if an edge is infinite: then there is one cell
  }
  // Finds the bins of a pack's samples: all cells first, then the edges in them.
  template <unsigned n>
  __device__ __forceinline__ void operator()(const T (&x)[n], unsigned (&bins)[n]) const {
    unsigned range[n], several = 0;
    bool inside[n];
#pragma unroll
    for (unsigned k = 0; k < n; ++k) {
      inside[k] = x[k] >= first && x[k] < last;
      range[k] = ranges[inside[k] ? cell_of(x[k]) : 0];
    }
#pragma unroll
    for (unsigned k = 0; k < n; ++k) {
      bins[k] = range[k] & 0xffff;
      if (range[k] >> 16) bins[k] += x[k] >= edges[bins[k] + 1];
      several |= range[k] >> 17;
    }
    if (several) {
#pragma unroll
      for (unsigned k = 0; k < n; ++k) bins[k] = search(x[k], range[k]);
    }
#pragma unroll
    for (unsigned k = 0; k < n; ++k)
      if (!inside[k]) bins[k] = count;
  }

  // Block-wide: copies the edges to shared memory and fills the table; ends with a barrier.
  __device__ GuideTable(const Guide<T>& guide, const T* from, unsigned char* memory) {
    T* const copied = reinterpret_cast<T*>(memory);  // each takes a word
    auto* const filled = reinterpret_cast<unsigned*>(memory) + guide.count + 1;
    edges = copied, ranges = filled, count = guide.count, cells = guide.cells;
    for (unsigned k = threadIdx.x; k <= count; k += blockDim.x) copied[k] = from[k];
    __syncthreads();
    first = edges[0], last = edges[count];
    float width;
    if constexpr (std::is_integral_v<T>)
      width = static_cast<float>(static_cast<std::uint32_t>(last) - static_cast<std::uint32_t>(first));
    else
      width = last - first;
    scale = static_cast<float>(cells) / width;
    for (unsigned c = threadIdx.x; c <= cells; c += blockDim.x) {
      const unsigned before = edges_before(c), upto = edges_before(c + 1);
      // Edge 0 is below every sample that is in a bin.
      const unsigned bin = before > 0 ? before - 1 : 0, last = upto > 0 ? upto - 1 : 0;
      filled[c] = bin | (last < count ? last - bin : count - 1 - bin) << 16;
    }
    __syncthreads();
  }

 private:
  // The bin of a sample in a cell with this range.
  __device__ unsigned search(T x, unsigned range) const {
    unsigned bin = range & 0xffff, more = range >> 16;  // the bin is one of bin to bin + more
    while (more > 0) {
      const unsigned half = (more + 1) / 2;
      if (x >= edges[bin + half])
        bin += half, more -= half;
      else
        more = half - 1;
    }
    return bin;
  }
  // The number of edges in the cells before c.
  __device__ unsigned edges_before(unsigned c) const {
    unsigned low = 0, high = count + 1;
    while (low < high) {
      const unsigned middle = (low + high) / 2;
      if (cell_of(edges[middle]) < c)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

template <class T, class O>
__global__ void __launch_bounds__(steps_block, 1)
    guided_kernel(Input<T, O> in, Steps<T> steps, WordColumns table, Guide<T> guide,
                  unsigned* totals) {                  // [counters + 1], zero
  unsigned* const words = dynamic_shared<unsigned>();  // [slots][columns], then the guide
  const StepRange share = steps.share(blockIdx.x, gridDim.x);
  allow_next_launch();
  prefetch_first_steps(in.samples, share);
  table.clear(words);
  wait_for_previous();
  const GuideTable<T> bin_of(guide, in.bins.edges,
                             reinterpret_cast<unsigned char*>(words + table.slots * table.columns));
  for_each_slot(
      in.samples, steps, share,
      [&]<unsigned n>(const T(&x)[n], unsigned column, unsigned(&slots)[n]) {
        bin_of(x, slots);
#pragma unroll
        for (unsigned k = 0; k < n; ++k) slots[k] = slot_of_bin(in, slots[k], column + k);
      },
      [&](unsigned slot, auto present) {
        if (present) table.count(words, slot);
      });
  __syncthreads();
  table.merge(words, totals);
}

struct guided {
  static constexpr Story story{.idea = "a table of cells leads a sample to its edges; mostly one load, no comparison",
                               .prediction = "0.7 of the read ceiling for 256 random edges, 5 times the binary search",
                               .guarantees = "counts are exact",
                               .limits = "edges of up to 4096 bins and 4-byte samples, else values",
                               .source = "Chen, Asau, guide tables, 1974"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest = largest_counted;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if constexpr (O::binning == Binning::edges && sizeof(T) == 4) {
      const Steps<T> steps(a.in.samples);
      const unsigned block = a.tuning.block_or(steps_block);
      if (!whole_warps(block)) return not_whole_warps;
      const unsigned grid = a.tuning.grid_or(steps.grid(block));
      const std::size_t samples_per_block = a.in.samples.count / grid;
      const Guide<T> guide(a.in.bins.count, samples_per_block);
      const WordColumns table(a.in.counters(), samples_per_block, guide.bytes());
      if (guide.count <= most_guided && table.bytes() + guide.bytes() <= most_shared) {
        const Shape shape{.grid = grid,
                          .block = block,
                          .shared_bytes = table.bytes() + guide.bytes(),
                          .overlap = true,
                          .stream = a.stream};
        return by_totals(
            a, [&](unsigned* totals) { return launch(guided_kernel<T, O>, shape, a.in, steps, table, guide, totals); });
      }
    }
    return values::run<T, O>(a);
  }
};

}  // namespace upsweep::ladders::histogram
