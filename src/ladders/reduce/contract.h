// reduce: out[0] = op(neutral, in[0], ..., in[n-1]) in some order; out[0] = neutral when n is 0.
// in[0] is the input, n elements at any alignment of the element; out[0] is one element.
#pragma once
#include "base/typed_rung.h"
#include "base/workspace.h"

namespace upsweep::ladders::reduce {

template <class T, class Op>
struct Args {
  const T* in;  // [n]
  T* out;       // [1]
  std::size_t n;
  Op op;
  const Tuning& tuning;
  Workspace* workspace;
  Stream stream;
};

template <class T>
constexpr bool is_reduce_type = sizeof(T) >= 4;  // i32 u32 i64 u64 f32 f64

struct Binding {
  static constexpr std::string_view primitive = "reduce";
  template <class T, class Op>
  static constexpr bool takes = is_reduce_type<T>;
  template <class T, class Op>
  static Args<T, Op> args(const Call& c) {
    return {c.in[0].as<const T>(), c.out[0].as<T>(), c.n(), Op{}, c.tuning, c.workspace, c.stream};
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

}  // namespace upsweep::ladders::reduce
