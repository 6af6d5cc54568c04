// scan: exclusive, out[i] = op(initial, in[0], ..., in[i-1]); inclusive (scalars[0] is true),
// op(initial, in[0], ..., in[i]). Without an initial value (scalars[1] is empty), out[0] of an exclusive scan is
// value_of_none<Op, T>().
// The input and the output are arrays of n elements that need only their natural alignment. The operator is
// associative; operands are never swapped. Supported are sum, min and max of i8 to u64, f32 and f64; product of types
// of 4 and 8 bytes; and sum of f16 and bf16. Sums are computed in the output's type, which may be wider than the
// input's (widens_sums), or as float if the output's type is f16 or bf16.
#pragma once
#include <type_traits>

#include "base/implementation.h"

namespace upsweep::ladders::scan {

template <class T, class Op, class Out = T>
struct Args : Execution {
  const T* in;  // [n]
  Out* out;     // [n]
  std::size_t n;
  bool inclusive;
  Op op;
  Initial<Out, Op> initial{};
};

// True for the operations that every rung implements. Only the CPU's rungs and the GPU rungs that choose.h names
// implement product; in the other rungs, it would only repeat the kernels of sum.
template <class Op>
inline constexpr bool in_every_rung = !std::is_same_v<Op, Product>;

inline constexpr Status no_memory_for_totals{Code::out_of_memory, 0, "no memory for the tiles' totals"};

}  // namespace upsweep::ladders::scan
