// Helpers for the oracles of several primitives.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/parts.h"
#include "upsweep/types.h"

namespace upsweep {

// Formats a value with all its digits, for messages. A NaN's sign carries no information and is omitted.
template <class T>
std::string show(T value) {
  if constexpr (is_floating<T>) {
    if (value != value) return "nan";
    char text[64];
    std::snprintf(text, sizeof text, "%.*g", std::numeric_limits<T>::max_digits10, static_cast<double>(value));
    return text;
  } else {
    return std::to_string(value);
  }
}

// Returns an oracle's message: "out[3] is 4, should be 5 +- 0.1". Omits the slack if it is 0.
template <class T>
std::string wrong_element(std::size_t i, T is, const std::string& should, long double slack = 0,
                          const std::string& array = "out") {
  return array + "[" + std::to_string(i) + "] is " + show(is) + ", should be " + should +
         (slack > 0 ? " +- " + show(static_cast<double>(slack)) : "");
}

// True if equal as values: all NaNs are equal, and so are both zeros.
template <class T>
bool same_value(T a, T b) {
  return a == b || (a != a && b != b);
}

// The sign of a float sum that is zero. It does not depend on the order of summation: round-to-nearest gives -0 only
// for -0 + -0.
class SignOfZero {
 public:
  template <class T>
  void take(T x) {
    any_ = true;
    if constexpr (std::is_floating_point_v<T>) minus_ &= x == 0 && std::signbit(x);
  }
  bool minus() const { return any_ && minus_; }
  // True unless the sum is a zero of the wrong sign.
  template <class T>
  bool fits(T sum) const {
    return sum != 0 || std::signbit(sum) == minus();
  }

 private:
  bool any_ = false, minus_ = true;
};

// Applies an operator, implemented independently of the library: integers are computed in 64 bits and wrap; the minimum
// or maximum of anything and a NaN is NaN.
template <class T>
T combined(Op op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    if (op == Op::sum) return static_cast<T>(x + y);
    if (op == Op::product) return static_cast<T>(x * y);
  } else {
    if (op == Op::sum) return a + b;
    if (op == Op::product) return a * b;
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  }
  return op == Op::min ? std::min(a, b) : std::max(a, b);
}
// Returns an operator's result for no elements, as documented: 0 for sum, 1 for product, the largest value for min, the
// lowest for max.
template <class T>
T of_no_elements(Op op) {
  using L = std::numeric_limits<T>;
  switch (op) {
    case Op::sum:
      return 0;
    case Op::product:
      return 1;
    case Op::min:
      return L::has_infinity ? L::infinity() : L::max();
    case Op::max:
      break;
  }
  return L::has_infinity ? -L::infinity() : L::lowest();
}

// Returns the worst-case relative error of `roundings` roundings to T, each of at most u (2^-24, 2^-53):
// (1 + u)^roundings - 1; Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.4.
template <class T>
long double growth(std::size_t roundings) {
  const long double u = std::numeric_limits<T>::epsilon() / 2;
  return std::expm1(static_cast<long double>(roundings) * std::log1p(u));
}

// Calls f(TypeTag<T>{}, O{}) with the C++ type and the operator's struct.
template <class F>
auto visit_both(Type type, Op op, F&& f) {
  return visit(type, [&](auto tag) { return visit(op, [&](auto o) { return f(tag, o); }); });
}

// Returns the float nearest to `expected` among those that round to `half`. This undoes the final rounding, so that the
// oracles of f32 can judge the result.
template <class T>
float unrounded(T half, long double expected) {
  const auto nearest = static_cast<float>(expected);
  if (half != half) return half;
  if (T(nearest).bits == half.bits) return nearest;
  // The midpoint between `half` and its neighbour in the direction of `expected`. Infinity counts as the next power of
  // two.
  const auto value = [](int place) -> double {
    const T x = T::of_bits(static_cast<std::uint16_t>(place < 0 ? T::sign | -place : place));
    const double size = std::abs(place) == T::infinity ? std::ldexp(1.0, std::numeric_limits<T>::max_exponent) : 0;
    return size == 0 ? double{float(x)} : std::copysign(size, place);
  };
  const int place = half.bits & T::sign ? -(half.bits & ~T::sign) : half.bits;
  const int next = place + (nearest > float(half) ? 1 : -1);
  const auto middle = static_cast<float>((value(place) + value(next)) / 2);
  return T(middle).bits == half.bits ? middle : std::nextafter(middle, float(half));
}

// Searches the parts of an array (lab/parts.h), on all cores, by find(p, begin, end). Returns the result for the first
// part with a mistake, or nullopt.
std::optional<std::string> first_mistake(std::size_t n, auto&& find) {
  std::vector<std::optional<std::string>> mistakes(parts_of(n));
  for_each_part(n, [&](std::size_t p, std::size_t begin, std::size_t end) { mistakes[p] = find(p, begin, end); });
  for (auto& mistake : mistakes)
    if (mistake) return mistake;
  return std::nullopt;
}

}  // namespace upsweep
