// segmented_scan: a scan that begins anew at every head. Exclusive, out[i] = op over in[s..i-1], or inclusive
// (scalars[0] is true) up to and with in[i], where s is the last head at or before i; element 0 is always one. in[0]
// and out[0] are n elements each, at any alignment of the element; out may be in. The operator is associative; its
// operands keep their order. Types i8 to u64, f32, f64; sum, min, max.
//
// in[1] says where segments begin, in one of three ways (scalars[1], a HeadKind):
//   flags     u8[n]: not 0 where one begins
//   keys      u32[n]: one begins where the key is not its left neighbour's
//   offsets   u64, any number of them, ascending: segment k begins at offsets[k]; those from n on begin nothing, and of
//             equal ones all but the last are empty
#pragma once
#include <cstdint>

#include "base/typed_rung.h"
#include "base/workspace.h"
#include "upsweep/operations.h"

namespace upsweep::ladders::segmented_scan {

constexpr Type element_of(HeadKind kind) {
  return kind == HeadKind::flags ? Type::u8 : kind == HeadKind::keys ? Type::u32 : Type::u64;
}

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
  const Tuning& tuning;
  Workspace* workspace;
  Stream stream;
};

inline constexpr Status no_memory_for_heads{Code::out_of_memory, 0, "no memory for a bit an element and the totals"};

struct Binding {
  static constexpr std::string_view primitive = "segmented_scan";
  template <class T, class Op>
  static constexpr bool takes = !std::is_same_v<Op, Product>;
  template <class T, class Op>
  static Args<T, Op> args(const Call& c) {
    const auto kind = c.scalars[1].as<HeadKind>();
    return {c.in[0].as<const T>(),
            {kind, c.in[1].data, kind == HeadKind::offsets ? c.in[1].count : 0},
            c.out[0].as<T>(),
            c.n(),
            c.scalars[0].as<bool>(),
            Op{},
            c.tuning,
            c.workspace,
            c.stream};
  }
  template <class F>
  static RunFn visit(Operation operation, F&& f) {
    return visit_operator(operation, f);
  }
};

// The Rung of an implementation struct R: its name, R::story, and R::run<T, Op>(Args<T, Op>).
template <class R>
constexpr Rung make_rung(std::string_view name, Backend backend) {
  return make_typed_rung<Binding, R>(name, backend);
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
    return {right.head ? right.value : op(left.value, right.value), static_cast<UnsignedAs<T>>(left.head | right.head)};
  }
};

}  // namespace upsweep::ladders::segmented_scan
