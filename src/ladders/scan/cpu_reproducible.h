// The reproducible scan of an array that arrives piece by piece.
#pragma once
#include <cstddef>
#include <memory>

#include "upsweep/operators.h"

namespace upsweep::ladders::scan {

enum class More { none, follow };  // whether more pieces follow

// A scan of float sums (f32, f64) in the order that cpu_reproducible.cpp defines. How the array is cut into pieces does
// not affect the bits.
template <class T>
class ReproducibleScan {
 public:
  ReproducibleScan();
  ~ReproducibleScan();
  // Elements per block: 32 tiles, whose totals make one row. Every piece but the last must be a whole number of blocks.
  static constexpr std::size_t block = 32 * 1024;
  // Scans the next n elements, on up to `threads` cores. `in` may equal `out`. `initial` must be the same for all
  // pieces.
  void next(const T* in, T* out, std::size_t n, More more, bool inclusive, Initial<T, Sum> initial, int threads);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace upsweep::ladders::scan
