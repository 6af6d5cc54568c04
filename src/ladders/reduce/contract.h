// reduce: out[0] = op(initial, in[0], ..., in[n-1]) in some order. If n is 0 and there is no initial value (scalars[0]
// is empty), out[0] = value_of_none<Op, T>().
// The input is n elements that need only their natural alignment; the output is one element. Sums are computed in the
// output's type, or as float if that type is f16 or bf16. The output's type may be wider than the input's
// (widens_sums), and for sums of u8 it always is. There are no products of elements of 8 or 16 bits, and of these types
// only u8, f16 and bf16 have sums.
//
// With a segment length L > 0 (scalars[1]), segment s is in[s * L], ..., in[min(s * L + L, n) - 1], and out[s] its
// reduction; out has ceil(n / L) elements.
//
// Sums of f32 and f64 may also be written exactly, in out[1]: exact_words() words of an ExactSum (exact.h). Such sums
// of parts can be added in any order and then rounded, which gives the bits of the whole's reproducible sum.
//
// argmin, argmax: out[0] = the index, a u64, of the first smallest or largest of n > 0 elements. A NaN beats every
// number, as in NumPy, and -0 equals +0. Neither an initial value nor segments are supported.
#pragma once
#include <span>

#include "base/implementation.h"
#include "upsweep/parameters/reduce.h"

namespace upsweep::ladders::reduce {

// Returns the number of segments of an array of n elements: 1 if segment_length is 0.
constexpr std::size_t segments_of(std::size_t n, std::size_t segment_length) {
  return segment_length ? n / segment_length + (n % segment_length != 0) : 1;
}

template <class T, class Op, class Out = T>
struct Args : Execution {
  const T* in;  // [n]
  Out* out;     // [segments()]
  std::size_t n;
  Op op;
  Initial<Out, Op> initial{};
  std::size_t segment_length = 0;  // 0: all elements are one segment; nonzero only for rungs that take segments
  std::int64_t* exact = nullptr;   // [exact_words()], or null; given only to rungs that write exact sums

  std::size_t length() const { return segment_length ? segment_length : n; }
  std::size_t segments() const { return segments_of(n, segment_length); }
  std::span<const T> segment(std::size_t s) const {
    const std::size_t begin = s * length();
    return {in + begin, n - begin < length() ? n - begin : length()};
  }
};

// The type in which a result of type T is computed: at least 32 bits wide, because threads exchange words.
template <class T>
using Accumulator = std::conditional_t<sizeof(T) >= 4 || is_half<T>, Computed<T>,
                                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>;

// Returns op(initial, total), where `total` is the reduction of n elements, or initial.alone() if n is 0.
template <class A, class T, class Op>
UPSWEEP_HD constexpr T with_initial(A total, std::size_t n, Op op, const Initial<T, Op>& initial) {
  return n > 0 ? static_cast<T>(op(static_cast<A>(initial.value), total)) : initial.alone();
}

// ---- argmin and argmax ----------------------------------------------------------------------------------------------

// True if the operation is argmin or argmax.
constexpr bool is_index(const Operation& operation) {
  return operation == Operation(IndexOf::min) || operation == Operation(IndexOf::max);
}

template <class T, class Op>
struct IndexArgs : Execution {
  const T* in;         // [n]
  std::uint64_t* out;  // [1]
  std::size_t n;       // > 0
};

// The operators of argmin and argmax. beats(a, b): true if a wins although b has the lower index.
struct ArgMin {
  static constexpr IndexOf operation = IndexOf::min;
  static constexpr bool finds_index = true;
  using Extreme = Min;  // the operator that reduces to the extreme's value
  template <class T>
  UPSWEEP_HD static constexpr bool beats(T a, T b) {
    return a < b || (a != a && b == b);
  }
};
struct ArgMax {
  static constexpr IndexOf operation = IndexOf::max;
  static constexpr bool finds_index = true;
  using Extreme = Max;
  template <class T>
  UPSWEEP_HD static constexpr bool beats(T a, T b) {
    return a > b || (a != a && b == b);
  }
};
template <class Op>
inline constexpr bool is_index_of = std::is_same_v<Op, ArgMin> || std::is_same_v<Op, ArgMax>;

}  // namespace upsweep::ladders::reduce
