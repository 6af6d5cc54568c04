// reduce: out[0] = op(initial, in[0], ..., in[n-1]) in some order; without an initial value (scalars[0] is empty),
// value_of_none<Op, T>() when n is 0.
// in[0] is the input, n elements that need only their natural alignment; out[0] is one element. Types i32 to u64, f32,
// f64. Sums are computed in the output's type, which may be wider than the input's (widens_sums), and for u8 always is.
#pragma once
#include "base/implementation.h"

namespace upsweep::ladders::reduce {

template <class T, class Op, class Out = T>
struct Args : Execution {
  const T* in;  // [n]
  Out* out;     // [1]
  std::size_t n;
  Op op;
  Initial<Out, Op> initial{};
};

// Combines `total`, the reduction of the n elements, with the initial value, if any.
template <class T, class Op>
UPSWEEP_HD constexpr T with_initial(T total, std::size_t n, Op op, const Initial<T, Op>& initial) {
  return n > 0 ? op(initial.value, total) : initial.alone();
}

}  // namespace upsweep::ladders::reduce
