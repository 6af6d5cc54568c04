// segmented_scan: a scan that begins anew at every head. Exclusive, out[i] = op over in[s..i-1], or inclusive
// (parameter inclusive=1) up to and with in[i], where s is the last head at or before i; element 0 is always one. in[0]
// and out[0] are n elements each, at any alignment of the element; out may be in. The operator is associative; its
// operands keep their order. Types i8 to u64, f32, f64; sum, min, max.
//
// in[1] says where segments begin, in one of three ways (parameter heads):
//   0  flags     u8[n]: not 0 where one begins
//   1  keys      u32[n]: one begins where the key is not its left neighbour's
//   2  offsets   u64[segments] (parameter segments), ascending: segment k begins at offsets[k]; those from n on begin
//                nothing, and of equal ones all but the last are empty
#pragma once
#include <cstdint>

#include "base/platform.h"
#include "base/typed_rung.h"

namespace upsweep::ladders::segmented_scan {

enum class HeadKind { flags, keys, offsets };

struct Heads {
  HeadKind kind;
  const void* data;
  std::size_t segments;  // offsets alone
};

template <class T, class Op>
struct Args {
  const T* in;  // [n]
  Heads heads;
  T* out;  // [n]
  std::size_t n;
  bool inclusive;
  Op op;
  const Params& params;
  Workspace* workspace;
  Stream stream;
};

inline constexpr Status no_memory_for_heads{Code::out_of_memory, 0, "no memory for a bit an element and the totals"};

struct Contract {
  static constexpr std::string_view primitive = "segmented_scan";
  template <class T, class Op>
  static constexpr bool takes = !std::is_same_v<Op, Product>;
  template <class T, class Op>
  static Args<T, Op> args(const Call& c) {
    return {static_cast<const T*>(c.in[0]),
            {static_cast<HeadKind>(static_cast<int>(c.params.get("heads", 0))), c.in[1],
             static_cast<std::size_t>(c.params.get("segments", 0))},
            static_cast<T*>(c.out[0]),
            c.n,
            c.params.get("inclusive", 0) != 0,
            Op{},
            c.params,
            c.workspace,
            c.stream};
  }
};

// The Rung of an implementation struct R: its name, R::story, and R::run<T, Op>(Args<T, Op>).
template <class R>
constexpr Rung make_rung(std::string_view name, Backend backend) {
  return make_typed_rung<Contract, R>(name, backend);
}

// A run of elements and whether a segment begins in it: then `value` is of what comes from its last head on.
template <class T>
struct Run {
  // As wide as the value, so that nothing is left between them: bytes that nobody writes would be shuffled and copied.
  T value;
  UnsignedAs<T> head;  // 0 or 1
};

// The left run, then the right one: associative, and commutative no more.
template <class Op>
struct Joined {
  Op op;
  template <class R>
  UPSWEEP_HD static constexpr R neutral() {
    return {Op::template neutral<decltype(R::value)>(), 0};
  }
  template <class T>
  UPSWEEP_HD constexpr Run<T> operator()(Run<T> left, Run<T> right) const {
    return {right.head ? right.value : op(left.value, right.value),
            static_cast<UnsignedAs<T>>(left.head | right.head)};
  }
};

}  // namespace upsweep::ladders::segmented_scan
