// The reproducible scan of an array that arrives piece by piece.
#pragma once
#include <cstddef>
#include <memory>

#include "upsweep/operators.h"

namespace upsweep::ladders::scan {

enum class More { none, follow };  // whether more pieces follow

// Float sums (f32, f64) in the order that cpu_reproducible.cpp states. The pieces do not affect the bits.
template <class T>
class ReproducibleScan {
 public:
  ReproducibleScan();
  ~ReproducibleScan();
  // In elements: 32 tiles, whose totals make one row. Every piece but the last is a multiple of a block.
  static constexpr std::size_t block = 32 * 1024;
  // Scans the next n elements, on up to `threads` cores. in may be out. `initial` is the same for all pieces.
  void next(const T* in, T* out, std::size_t n, More more, bool inclusive, Initial<T, Sum> initial, int threads);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace upsweep::ladders::scan
