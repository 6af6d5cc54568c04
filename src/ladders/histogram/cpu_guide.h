// Leads a sample to its bin between edges: a table of equal cells says in which bin a cell begins, and a binary search
// among the edges within the cell finds the rest.
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

// Integers are searched as their distance from the first edge, floats as they are. If the last bin is closed, it ends
// at the next number after its edge.
struct Guide {
  std::uint32_t* first;  // [last_cell + 1]: the last bin that begins before the cell
  std::uint32_t* edges;  // those from edges[0] on, of a sample's 32 bits, and then as many copies of the last as needed
  std::uint32_t lower, width;  // the first edge, and what the last is above it
  std::uint32_t sign;          // flipped in signed integers narrower than 32 bits
  unsigned last_cell;
  int shift;          // of a distance, to its cell
  float scale;        // of the difference from the first float, to its cell
  unsigned halvings;  // of the search within a cell

  // Four cells per bin: bins whose widths differ by less than a factor of two (half of the cells may be past the last
  // edge) then have at most one edge in each cell. No more than half the samples, which would not pay for them. At
  // least two: no shift by 32.
  static unsigned most_cells(std::size_t count, std::size_t samples) {
    return static_cast<unsigned>(std::bit_floor(std::max<std::size_t>(std::min(4 * count, samples / 2), 2)));
  }
  // Words of memory that make() needs.
  static std::size_t words(std::size_t count, std::size_t samples) {
    return most_cells(count, samples) + 2 * count + 1;
  }

  // False if there is no number after the last edge where one is needed.
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
      // Not for infinite edges, nor for such close ones: a single cell.
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
    // Cells ascend with the samples, so that an edge in an earlier cell is below all samples of this one.
    g.first[0] = 0;
    unsigned most = 0, here = 0;  // edges in a cell
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
