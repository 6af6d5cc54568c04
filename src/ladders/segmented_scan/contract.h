// segmented_scan: a scan that starts anew at every head. Exclusive: out[s] = value_of_none<Op, T>(), out[i] = op over
// in[s..i-1]; inclusive (scalars[0] is true): over in[s..i]; s is the last head at or before i, and element 0 always is
// one. in[0] and out[0] have n elements each, at any alignment of the element; out may be in. The operator is
// associative; its operands keep their order. Types i8 to u64, f32, f64; sum, min, max.
//
// in[1] marks the heads in one of three ways (scalars[1], a HeadKind):
//   flags     u8[n]: nonzero at a head
//   keys      u32[n]: a head wherever the key differs from its left neighbour
//   offsets   u64, any number of them, ascending, none above n: segment k begins at offsets[k]. One that is n begins
//             nothing; of equal offsets, all but the last are empty segments
#pragma once
#include "base/implementation.h"
#include "upsweep/parameters/scan.h"

namespace upsweep::ladders::segmented_scan {

struct Heads {
  HeadKind kind;
  const void* data;
  std::size_t segments;  // the number of offsets
};

template <class T, class Op>
struct Args : Execution {
  const T* in;  // [n]
  Heads heads;
  T* out;  // [n]
  std::size_t n;
  bool inclusive;
  Op op;
};

inline constexpr Status no_memory_for_heads{Code::out_of_memory, 0, "no memory for a bit an element and the totals"};

}  // namespace upsweep::ladders::segmented_scan
