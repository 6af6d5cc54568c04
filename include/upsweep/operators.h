// The operators of reductions and scans, for kernels and host code.
//
// These operators are associative and commutative and have a neutral element. Integer sums and products wrap (two's
// complement) on every backend. Minimum and maximum propagate NaN; of -0 and +0, they may return either. A float sum
// keeps the sign of zero: a nonempty sum is -0 if every element is -0, and an empty sum is +0. A user-defined operator
// is any type with the same members.
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

// True for float, double and the types of upsweep/half.h.
template <class T>
inline constexpr bool is_floating = std::is_floating_point_v<T>;

namespace detail {
// The type in which Sum and Product compute. Signed overflow is undefined in C++, so integers are computed as unsigned,
// which wrap. Types narrower than int are widened to unsigned first, because u16 * u16 would be computed in (signed)
// int.
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
    if constexpr (is_floating<T>)
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
    if constexpr (is_floating<T>)
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
    if constexpr (is_floating<T>)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::lowest();
  }
  template <class T>
  UPSWEEP_HD constexpr T operator()(T a, T b) const {
    return (a > b || a != a) ? a : b;
  }
};

// True if the result of O over no elements differs from O's neutral element: float sums, whose neutral element is -0.
template <class O, class T>
inline constexpr bool none_is_not_neutral = std::is_same_v<O, Sum> && is_floating<T>;

// Returns the result of O over no elements: that of an empty reduction, and the first element of an exclusive scan or
// of one of its segments. For results only: accumulators start from neutral(), because this value would turn -0 into
// +0.
template <class O, class T>
UPSWEEP_HD constexpr T value_of_none() {
  if constexpr (none_is_not_neutral<O, T>)
    return T(0);
  else
    return O::template neutral<T>();
}

// The value that a reduction or a scan with operator O starts from. It precedes the first element.
template <class T, class O>
struct Initial {
  T value = O::template neutral<T>();
  bool given = false;  // by the caller; if false, value is the neutral element
  // As value_of_none(), with this initial value: returns the result over no elements.
  UPSWEEP_HD constexpr T alone() const {
    if constexpr (none_is_not_neutral<O, T>)
      return given ? value : value_of_none<O, T>();
    else
      return value;
  }
};

}  // namespace upsweep
