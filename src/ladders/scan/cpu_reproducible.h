// The reproducible scan of an array that arrives piece by piece.
#pragma once
#include <cstddef>
#include <memory>

namespace upsweep::ladders::scan {

enum class More { none, follow };  // pieces

// Float sums (f32, f64) in the order that cpu_reproducible.cpp states. The pieces do not affect the bits.
template <class T>
class ReproducibleScan {
 public:
  ReproducibleScan();
  ~ReproducibleScan();
  // Elements; every piece but the last is a multiple of a block: 32 tiles, whose totals make one row.
  static constexpr std::size_t block = 32 * 1024;
  // Scans the next n elements, on up to `threads` cores. in may be out.
  void next(const T* in, T* out, std::size_t n, More more, bool inclusive, int threads);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace upsweep::ladders::scan
