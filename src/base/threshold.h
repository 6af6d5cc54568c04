// Crossover points, at which one rung takes over from the next (in choose.h) or, inside a rung, a larger tile, table or
// launch from a smaller one. A threshold is defined where it is used, with its measurement. It can be set at run time
// to tune for another machine, or to let a check reach both sides with few elements.
#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <string_view>

namespace upsweep {

// The values for which the code is correct, if an array's length or a word's width limits them.
struct Bounds {
  std::uint64_t min = 0, max = std::numeric_limits<std::uint64_t>::max();
};

class Threshold {
 public:
  // `name` is the variable's name, unique in its ladder; `measured` is the default; with `few`, a check reaches both
  // sides of the threshold with few elements.
  constexpr Threshold(std::string_view name, std::uint64_t measured, std::uint64_t few, Bounds bounds = {})
      : name_(name), measured_(measured), few_(few), bounds_(bounds) {}
  Threshold(const Threshold&) = delete;
  Threshold& operator=(const Threshold&) = delete;

  operator std::uint64_t() const { return value_.load(std::memory_order_relaxed); }
  std::string_view name() const { return name_; }
  std::uint64_t measured() const { return measured_; }
  std::uint64_t few() const { return few_; }
  const Bounds& bounds() const { return bounds_; }
  // `value` must be within the bounds. Set it only between calls, because a running call may read it several times.
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  void reset() { set(measured_); }

 private:
  const std::string_view name_;
  const std::uint64_t measured_, few_;
  const Bounds bounds_;
  std::atomic<std::uint64_t> value_ = measured_;
};

}  // namespace upsweep
