// The operators of reductions and scans, for kernels and host code.
//
// An operator is associative and commutative and has a neutral element. Integer sums and products wrap (two's
// complement) on every backend. Minimum and maximum propagate NaN; which zero wins between -0 and +0 is not specified.
// A float sum keeps the sign of zero: it is -0 if there are elements and all are -0, and a sum of no elements is
// +0. A user-defined operator is any type of this shape.
#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

// Marks functions shared by kernels and host code. Empty outside nvcc.
#if defined(__CUDACC__)
#define UPSWEEP_HD __host__ __device__
#else
#define UPSWEEP_HD
#endif

namespace upsweep {

enum class Op : std::uint8_t { sum, product, min, max };

namespace detail {
// Signed overflow is undefined in C++ but wraps on every machine we run on, so the arithmetic is unsigned. Types
// narrower than int are widened to unsigned first, because u16 * u16 would be computed in (signed) int.
template <class T, bool = std::is_integral_v<T>>
struct Wrapping {
  using type = std::conditional_t<(sizeof(T) < 4), unsigned, std::make_unsigned_t<T>>;
};
template <class T>
struct Wrapping<T, false> {
  using type = T;
};
}  // namespace detail

struct Sum {
  static constexpr Op operation = Op::sum;
  // -0 for floats, because +0 + -0 is +0.
  template <class T>
  UPSWEEP_HD static constexpr T neutral() {
    if constexpr (std::is_floating_point_v<T>)
      return T(-0.0);
    else
      return T(0);
  }
  template <class T>
  UPSWEEP_HD constexpr T operator()(T a, T b) const {
    using W = typename detail::Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
};
struct Product {
  static constexpr Op operation = Op::product;
  template <class T>
  UPSWEEP_HD static constexpr T neutral() {
    return T(1);
  }
  template <class T>
  UPSWEEP_HD constexpr T operator()(T a, T b) const {
    using W = typename detail::Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
};
struct Min {
  static constexpr Op operation = Op::min;
  template <class T>
  UPSWEEP_HD static constexpr T neutral() {
    if constexpr (std::is_floating_point_v<T>)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
  template <class T>
  UPSWEEP_HD constexpr T operator()(T a, T b) const {
    return (a < b || a != a) ? a : b;
  }
};
struct Max {
  static constexpr Op operation = Op::max;
  template <class T>
  UPSWEEP_HD static constexpr T neutral() {
    if constexpr (std::is_floating_point_v<T>)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::lowest();
  }
  template <class T>
  UPSWEEP_HD constexpr T operator()(T a, T b) const {
    return (a > b || a != a) ? a : b;
  }
};

// Whether O over no elements is not O's neutral element: a float sum.
template <class O, class T>
inline constexpr bool none_is_not_neutral = std::is_same_v<O, Sum> && std::is_floating_point_v<T>;

// O over no elements: the result of an empty reduction, and the first element of an exclusive scan or segment. It is
// for results only: operands start from neutral(), or they would turn -0 into +0.
template <class O, class T>
UPSWEEP_HD constexpr T value_of_none() {
  if constexpr (none_is_not_neutral<O, T>)
    return T(0);
  else
    return O::template neutral<T>();
}

}  // namespace upsweep
