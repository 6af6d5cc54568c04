// saxpy: out[i] = a * x[i] + y[i]. in[0] is x and in[1] is y, n elements each; out[0] is n elements of memory of its
// own, or y itself (in place), or x. Each array at any alignment of the element.
//
// scalars[0] is a, in the element's type. Integers wrap. Floats are rounded once (a fused multiply-add) or twice (a
// product, then a sum), whichever the processor does faster.
#pragma once
#include "base/typed_rung.h"
#include "base/workspace.h"

namespace upsweep::ladders::saxpy {

// The function that is applied: the kernels take any, of any number of inputs.
template <class T>
struct Axpy {
  T a;
  UPSWEEP_HD constexpr T operator()(T x, T y) const { return Sum{}(Product{}(a, x), y); }
};

template <class T>
struct Args {
  const T* x;  // [n]
  const T* y;  // [n]
  T* out;      // [n], may be y or x
  std::size_t n;
  Axpy<T> f;
  const Tuning& tuning;
  Workspace* workspace;
  Stream stream;
};

struct Binding {
  static constexpr std::string_view primitive = "saxpy";
  template <class T, class>
  static constexpr bool takes = true;
  template <class T, class>
  static Args<T> args(const Call& c) {
    return {c.in[0].as<const T>(),
            c.in[1].as<const T>(),
            c.out[0].as<T>(),
            c.n(),
            {c.scalars[0].as<T>()},
            c.tuning,
            c.workspace,
            c.stream};
  }
  template <class F>
  static RunFn visit(Operation, F&& f) {
    return f(NoOperation{});
  }
};

// The Rung of an implementation struct R: its name, R::story, and R::run<T, NoOperation>(Args<T>).
template <class R>
constexpr Rung make_rung(std::string_view name, Backend backend) {
  return make_typed_rung<Binding, R>(name, backend);
}

}  // namespace upsweep::ladders::saxpy
