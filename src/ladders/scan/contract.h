// scan: exclusive, out[i] = op(neutral, in[0], ..., in[i-1]); inclusive (scalars[0] is true), up to and with in[i].
// in[0] and out[0] are n elements each, at any alignment of the element. The operator is associative; its operands keep
// their order. Types i8 to u64, f32, f64; sum, min, max.
#pragma once
#include "base/typed_rung.h"
#include "base/workspace.h"

namespace upsweep::ladders::scan {

template <class T, class Op>
struct Args {
  const T* in;  // [n]
  T* out;       // [n]
  std::size_t n;
  bool inclusive;
  Op op;
  const Tuning& tuning;
  Workspace* workspace;
  Stream stream;
};

inline constexpr Status no_memory_for_totals{Code::out_of_memory, 0, "no memory for the tiles' totals"};

struct Binding {
  static constexpr std::string_view primitive = "scan";
  template <class T, class Op>
  static constexpr bool takes = !std::is_same_v<Op, Product>;
  template <class T, class Op>
  static Args<T, Op> args(const Call& c) {
    return {c.in[0].as<const T>(), c.out[0].as<T>(), c.n(), c.scalars[0].as<bool>(), Op{}, c.tuning,
            c.workspace,           c.stream};
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

}  // namespace upsweep::ladders::scan
