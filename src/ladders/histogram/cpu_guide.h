// Finds a sample's bin between edges: a table of cells of equal width gives the bin at the start of each cell, and a
// binary search among the edges in the cell does the rest.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ladders/histogram/contract.h"

namespace upsweep::ladders::histogram {

// The guide table of a set of edges. Integers are searched by distance from the first edge, floats by value. A closed
// last bin ends at the next number after its upper edge.
struct Guide {
  std::uint32_t* first;        // [last_cell + 1]: the last bin that begins before the cell
  std::uint32_t* edges;        // as 32 bits; integers minus the first edge. Padded with copies of the last edge
  std::uint32_t lower, width;  // the first edge; the last edge, minus the first if integer
  std::uint32_t sign;          // XOR mask: the sign bit of signed integers
  unsigned last_cell;
  int shift;          // maps a distance to its cell
  float scale;        // maps a float's distance from the first edge to its cell
  unsigned halvings;  // steps of the binary search within a cell

  // Returns the maximum number of cells. Four per bin: if the widths of the bins differ by less than a factor of two,
  // no cell has more than one edge, although half of the cells may be past the last edge. At most half as many cells as
  // samples, because more would not pay. At least two, to avoid a shift by 32.
  static unsigned most_cells(std::size_t count, std::size_t samples) {
    return static_cast<unsigned>(std::bit_floor(std::max<std::size_t>(std::min(4 * count, samples / 2), 2)));
  }
  // Returns the number of 32-bit words of memory that make() needs.
  static std::size_t words(std::size_t count, std::size_t samples) {
    return most_cells(count, samples) + 2 * count + 1;
  }

  // False if the last bin is closed and no number follows its upper edge.
  template <class T, class O>
  static bool takes(const Bins<T, O>& bins) {
    if (!bins.closed) return true;
    if constexpr (std::is_floating_point_v<T>)
      return bins.edge(bins.count) != std::numeric_limits<T>::infinity();
    else
      return static_cast<std::uint32_t>(bins.edge(bins.count) - bins.edge(0)) < ~std::uint32_t{0};
  }

  template <class T, class O>
  static Guide make(const Bins<T, O>& bins, std::size_t samples, std::uint32_t* memory) {
    const unsigned count = bins.count;
    Guide g{};
    g.first = memory;
    g.edges = memory + most_cells(count, samples);
    const unsigned cells = most_cells(count, samples);
    if constexpr (std::is_floating_point_v<T>) {
      T last = bins.edge(count);
      if (bins.closed) last = std::nextafter(last, std::numeric_limits<T>::infinity());
      g.lower = std::bit_cast<std::uint32_t>(bins.edge(0));
      g.width = std::bit_cast<std::uint32_t>(last);
      const T scale = static_cast<T>(cells) / (last - bins.edge(0));
      // Infinite edges, and edges too close to each other, get a single cell.
      if (scale > 0 && std::isfinite(scale)) g.scale = scale, g.last_cell = cells - 1;
      for (unsigned k = 0; k < count; ++k) g.edges[k] = std::bit_cast<std::uint32_t>(bins.edge(k));
      g.edges[count] = g.width;
    } else {
      g.sign = static_cast<std::uint32_t>(bins.sign);
      g.lower = static_cast<std::uint32_t>(bins.edge(0));
      g.width = static_cast<std::uint32_t>(bins.edge(count)) - g.lower + bins.closed;
      g.shift = std::max(static_cast<int>(std::bit_width(g.width - 1)) - std::countr_zero(cells), 0);
      g.last_cell = (g.width - 1) >> g.shift;
      for (unsigned k = 0; k < count; ++k) g.edges[k] = static_cast<std::uint32_t>(bins.edge(k)) - g.lower;
      g.edges[count] = g.width;
    }
    // Cell numbers ascend with samples, so an edge in an earlier cell is below all samples in this cell.
    g.first[0] = 0;
    unsigned most = 0, here = 0;  // edges per cell, and in the current one
    for (unsigned k = 0, cell = 0; k < count; ++k) {
      const unsigned next = k + 1 < count ? g.template cell_of<T>(g.edges[k + 1]) : g.last_cell;
      here = next == cell ? here + 1 : 1;
      if (k + 1 < count) most = std::max(most, here);
      while (cell < next) g.first[++cell] = k;
    }
    g.halvings = static_cast<unsigned>(std::bit_width(most));
    if (g.halvings > 0) std::fill_n(g.edges + count + 1, (1u << (g.halvings - 1)) - 1, g.edges[count]);
    return g;
  }

  template <class T>
  unsigned cell_of(std::uint32_t edge) const {
    if constexpr (!std::is_floating_point_v<T>) return edge >> shift;
    if (last_cell == 0) return 0;
    const auto cell = static_cast<unsigned>((std::bit_cast<float>(edge) - std::bit_cast<float>(lower)) * scale);
    return std::min(cell, last_cell);
  }
};

}  // namespace upsweep::ladders::histogram
