// reduce: out[0] = op(in[0], ..., in[n-1]) in some order; value_of_none<Op, T>() when n is 0.
// in[0] is the input, n elements at any alignment of the element; out[0] is one element.
#pragma once
#include "base/implementation.h"

namespace upsweep::ladders::reduce {

template <class T, class Op>
struct Args : Execution {
  const T* in;  // [n]
  T* out;       // [1]
  std::size_t n;
  Op op;
};

}  // namespace upsweep::ladders::reduce
