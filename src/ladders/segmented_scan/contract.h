// segmented_scan: a scan that restarts at every head. With s the last head at or before i:
//   exclusive   out[i] = initial value op in[s] op ... op in[i-1]
//   inclusive   out[i] = initial value op in[s] op ... op in[i], if scalars[0] is true
// Element 0 is always a head. Without an initial value (scalars[2] is empty), out[s] of an exclusive scan is
// value_of_none<Op, T>().
//
// in[0] and out[0] have n elements each, which need only their natural alignment; out may be in. The operator is
// associative; operands are never swapped. Types: i8 to u64, f32, f64. Operators: sum, min, max. Sums are computed in
// the output's type, which may be wider than the input's (widens_sums).
//
// in[1] marks the heads in one of three ways (scalars[1], a HeadKind):
//   flags     u8[n]: nonzero at a head
//   keys      u32[n]: a head wherever the key differs from its left neighbour
//   offsets   u64, any number, ascending, at most n: segment k begins at offsets[k]. A segment that begins at n is
//             empty, and so are all but the last of several segments that begin at the same offset
#pragma once
#include "base/implementation.h"
#include "upsweep/parameters/scan.h"

namespace upsweep::ladders::segmented_scan {

struct Heads {
  HeadKind kind;
  const void* data;
  std::size_t segments;  // the number of offsets
};

template <class T, class Op, class Out = T>
struct Args : Execution {
  const T* in;  // [n]
  Heads heads;
  Out* out;  // [n]
  std::size_t n;
  bool inclusive;
  Op op;
  Initial<Out, Op> initial;
};

inline constexpr Status no_memory_for_heads{Code::out_of_memory, 0, "no memory for the head bits and the totals"};

}  // namespace upsweep::ladders::segmented_scan
