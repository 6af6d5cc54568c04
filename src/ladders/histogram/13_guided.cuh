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
#include "ladders/histogram/tiles.cuh"
#include "ladders/histogram/totals.cuh"
#include "ladders/histogram/word_columns.cuh"

namespace upsweep::ladders::histogram {

// Up to this many bins, edges and cells take at most half of a block's share of shared memory.
inline constexpr unsigned most_guided = 4096;

template <class T>
struct Guide {
  unsigned count;  // bins
  unsigned cells;  // a power of two

  explicit Guide(unsigned bins) : count(bins), cells(32) {
    while (cells < 4 * bins) cells *= 2;
  }
  std::size_t bytes() const { return (cells + count + 1) * sizeof(unsigned); }
};

// The same in shared memory.
template <class T>
struct GuideTable {
  const T* edges;          // [count + 1]
  const unsigned* ranges;  // [cells]: the first bin that a cell meets, and 2^16 times the number of edges in the cell
  unsigned count, cells;
  T first;
  float scale;  // cells per unit

  __device__ unsigned cell_of(T x) const {
    float distance;
    if constexpr (std::is_integral_v<T>)
      distance = static_cast<float>(static_cast<std::uint32_t>(x) - static_cast<std::uint32_t>(first));
    else
      distance = x - first;
    const float place = distance * scale;  // NaN if an edge is infinite: then there is one cell
    return place >= static_cast<float>(cells) ? cells - 1 : place > 0 ? static_cast<unsigned>(place) : 0;
  }
  __device__ unsigned operator()(T x) const {
    if (!(x >= first && x < edges[count])) return count;
    const unsigned range = ranges[cell_of(x)];
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

  // Block-wide: copies the edges to shared memory and fills the table; ends with a barrier.
  __device__ GuideTable(const Guide<T>& guide, const T* from, unsigned char* memory) {
    T* const copied = reinterpret_cast<T*>(memory);  // each takes a word
    auto* const filled = reinterpret_cast<unsigned*>(memory) + guide.count + 1;
    edges = copied, ranges = filled, count = guide.count, cells = guide.cells;
    for (unsigned k = threadIdx.x; k <= count; k += blockDim.x) copied[k] = from[k];
    __syncthreads();
    first = edges[0];
    float width;
    if constexpr (std::is_integral_v<T>)
      width = static_cast<float>(static_cast<std::uint32_t>(edges[count]) - static_cast<std::uint32_t>(first));
    else
      width = edges[count] - first;
    scale = static_cast<float>(cells) / width;
    for (unsigned c = threadIdx.x; c < cells; c += blockDim.x) {
      const unsigned before = edges_before(c), upto = edges_before(c + 1);
      // Edge 0 is below every sample that is in a bin.
      const unsigned bin = before > 0 ? before - 1 : 0, last = upto > 0 ? upto - 1 : 0;
      filled[c] = bin | (last < count ? last - bin : count - 1 - bin) << 16;
    }
    __syncthreads();
  }

 private:
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
__global__ void __launch_bounds__(columns_block, 2)
    guided_kernel(Input<T, O> in, Tiles<T> tiles, WordColumns table, Guide<T> guide,
                  unsigned* totals) {                  // [counters + 1], zero
  unsigned* const words = dynamic_shared<unsigned>();  // [slots][columns], then the guide
  allow_next_launch();
  table.clear(words);
  wait_for_previous();
  const GuideTable<T> bin_of(guide, in.bins.edges,
                             reinterpret_cast<unsigned char*>(words + table.slots * table.columns));
  for (unsigned tile = blockIdx.x; tile < tiles.count; tile += gridDim.x)
    for_each_of_tile(in.samples, tiles, tile, [&](T x, unsigned column, bool present) {
      if (!present) return;
      const unsigned bin = bin_of(x);
      table.count(words,
                  bin == guide.count ? in.counters() : channel_of(column, in.samples.channels) * guide.count + bin);
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
      const Guide<T> guide(a.in.bins.count);
      const WordColumns table(a.in.counters(), guide.bytes());
      if (guide.count <= most_guided && table.bytes() + guide.bytes() <= most_shared) {
        const unsigned block = a.tuning.block_or(columns_block);
        if (Status s = fits_columns(block); !s) return s;
        const Tiles<T> tiles(a.in.samples, block);
        const std::size_t bytes = table.bytes() + guide.bytes();
        const Shape shape{.grid = a.tuning.grid_or(grid_for(tiles, resident(bytes, block))),
                          .block = block,
                          .shared_bytes = bytes,
                          .overlap = true,
                          .stream = a.stream};
        return by_totals(
            a, [&](unsigned* totals) { return launch(guided_kernel<T, O>, shape, a.in, tiles, table, guide, totals); });
      }
    }
    return values::run<T, O>(a);
  }
};

}  // namespace upsweep::ladders::histogram
