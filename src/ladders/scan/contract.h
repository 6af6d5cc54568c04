// scan: exclusive, out[0] = value_of_none<Op, T>(), out[i] = op(in[0], ..., in[i-1]); inclusive (scalars[0] is true),
// op(in[0], ..., in[i]).
// in[0] and out[0] have n elements each, at any alignment of the element. The operator is associative; its operands
// keep their order. Types i8 to u64, f32, f64; sum, min, max.
#pragma once
#include "base/implementation.h"

namespace upsweep::ladders::scan {

template <class T, class Op>
struct Args : Execution {
  const T* in;  // [n]
  T* out;       // [n]
  std::size_t n;
  bool inclusive;
  Op op;
};

inline constexpr Status no_memory_for_totals{Code::out_of_memory, 0, "no memory for the tiles' totals"};

}  // namespace upsweep::ladders::scan
