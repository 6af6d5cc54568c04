// Float sums in the order of the reproducible scan, for one core: rows of 32 elements, tiles of 32 rows.
#pragma once
#include <cstddef>

#include "ladders/scan/cpu_simd.h"

namespace upsweep::ladders::scan {

inline constexpr std::size_t row_elements = 32, tile_elements = 32 * row_elements;

// The loops for this processor's vector width; f32 and f64. Tiles begin at in[0].
template <class T>
struct TileSums {
  // totals[t] = the sum of tile t, for t in [0, count); all tiles are whole.
  void (*total)(const T* in, std::size_t count, T* totals);
  // out[0..n) = the scan of each tile, with before[t] added on its left. in may be out.
  void (*scan)(const T* in, T* out, std::size_t n, const T* before, How how);
};
template <class T>
const TileSums<T>& tile_sums();

}  // namespace upsweep::ladders::scan
