// The numbers at which one rung takes over from another. Each stands in its ladder's choose.h with what was measured,
// and can be set at run time: by a check, to reach the code beyond it with few elements, and for another machine.
#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

namespace upsweep {

class Threshold {
 public:
  // Its name is that of the number in choose.h; `measured` is its value until it is set. `few` lets a check reach what
  // is on both sides of it with few elements.
  constexpr Threshold(std::string_view name, std::uint64_t measured, std::uint64_t few)
      : name_(name), measured_(measured), few_(few) {}
  Threshold(const Threshold&) = delete;
  Threshold& operator=(const Threshold&) = delete;

  operator std::uint64_t() const { return value_.load(std::memory_order_relaxed); }
  std::string_view name() const { return name_; }
  std::uint64_t measured() const { return measured_; }
  std::uint64_t few() const { return few_; }
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  void reset() { set(measured_); }

 private:
  const std::string_view name_;
  const std::uint64_t measured_, few_;
  std::atomic<std::uint64_t> value_ = measured_;
};

}  // namespace upsweep
