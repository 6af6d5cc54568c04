// The correctly rounded sum of floats, by a different method than exact.h, which it checks: one sum of mantissas
// per exponent; then the total as binary digits, which are rounded.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace upsweep::ladders::reduce {

template <class T>
class SumByExponent {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int stored = Limits::digits - 1, exponents = 2 * Limits::max_exponent;
  static constexpr int lowest = Limits::min_exponent - Limits::digits;  // the smallest subnormal is 2^lowest

 public:
  void take(T x) {  // finite
    const Bits bits = std::bit_cast<Bits>(std::fabs(x)), fraction = bits & ((Bits{1} << stored) - 1);
    const auto exponent = static_cast<std::size_t>(bits >> stored);
    const auto mantissa = static_cast<std::int64_t>(exponent ? fraction | Bits{1} << stored : fraction);
    sums_[exponent ? exponent - 1 : 0] += std::signbit(x) ? -mantissa : mantissa;
  }

  // Returns the sum rounded to nearest, ties to even; infinity if it overflows; +0 if it is zero.
  T nearest() const {
    const Digits plus = digits(1);
    return plus.carry < 0 ? -round(digits(-1)) : round(plus);
  }

 private:
  struct Digits {
    std::array<bool, exponents + 128> bit{};  // bit[i] weighs 2^(i + lowest)
    __int128 carry = 0;                       // -1 if the number is negative
  };
  Digits digits(int sign) const {
    Digits all;
    for (std::size_t i = 0; i < all.bit.size(); ++i) {
      if (i < sums_.size()) all.carry += sign * sums_[i];
      all.bit[i] = all.carry & 1;
      all.carry >>= 1;
    }
    return all;
  }
  static T round(const Digits& number) {
    int top = static_cast<int>(number.bit.size()) - 1;
    while (top >= 0 && !number.bit[static_cast<std::size_t>(top)]) --top;
    const auto bit = [&](int i) { return i >= 0 && number.bit[static_cast<std::size_t>(i)]; };
    const int last = top < Limits::digits ? 0 : top - Limits::digits + 1;  // index of the last digit kept
    std::uint64_t kept = 0;
    for (int i = top; i >= last; --i) kept = 2 * kept + bit(i);
    bool more = false;  // sticky: any digit below the first dropped one is set
    for (int i = last - 2; i >= 0; --i) more |= bit(i);
    if (bit(last - 1) && (more || kept % 2)) ++kept;
    return static_cast<T>(std::ldexp(static_cast<long double>(kept), last + lowest));
  }

  std::array<__int128, exponents> sums_{};
};

}  // namespace upsweep::ladders::reduce
