// Float sums in the order of the reproducible scan, for one core: rows of 32 elements, tiles of 32 rows.
#pragma once
#include <cstddef>

#include "ladders/scan/cpu_simd.h"

namespace upsweep::ladders::scan {

inline constexpr std::size_t row_elements = 32, tile_elements = 32 * row_elements;

// The loops for this processor's vector width, for f32 or f64. The first tile begins at in[0].
template <class T>
struct TileSums {
  // Writes the sum of tile t to totals[t], for each t in [0, count). All tiles are whole.
  void (*total)(const T* in, std::size_t count, T* totals);
  // Writes the scan of each tile to out[0..n), with before[t] added on the left of tile t. `in` may equal `out`.
  void (*scan)(const T* in, T* out, std::size_t n, const T* before, How how);
};
template <class T>
const TileSums<T>& tile_sums();

}  // namespace upsweep::ladders::scan
