// The guide table of guided: cells of equal width, each with the number of edges before it and in it.
#pragma once
#include "ladders/histogram/steps.cuh"

namespace upsweep::ladders::histogram {

// The guide table of a set of edges, in shared memory.
template <class T>
struct GuideTable {
  const T* edges;          // [count + 1]
  const unsigned* ranges;  // [cells + 1]: the number of edges before the cell, plus 2^16 times the number in it
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
    const unsigned place = truncated(distance * scale);  // NaN is in cell 0; so are all samples if an edge is infinite
    return place < cells ? place : cells;
  }
  // Sets below[k] to the number of edges at or below x[k], for each sample of a pack: the edges in earlier cells, and
  // those in the sample's cell by comparison.
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

  // Block-wide: copies the edges to shared memory and fills the table; ends with a barrier. A closed last bin ends at
  // the next number after its upper edge.
  template <class B>
  __device__ GuideTable(const GuideShape& guide, const B& bins, unsigned char* memory) {
    T* const copied = reinterpret_cast<T*>(memory);  // T has the size of a word
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

  // Returns the next number after x; x if there is none.
  static __device__ T after(T x) {
    if constexpr (std::is_integral_v<T>)
      return x < std::numeric_limits<T>::max() ? x + 1 : x;
    else
      return std::nextafter(x, std::numeric_limits<T>::infinity());
  }

 private:
  // Returns the first of edges [from, to) for which `after` is true; `to` if there is none. Requires `after` to be true
  // for all later edges.
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

}  // namespace upsweep::ladders::histogram
