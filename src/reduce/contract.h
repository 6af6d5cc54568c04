// reduce: out[0] = op(neutral, in[0], ..., in[n-1]) in some order; out[0] = neutral when n is 0.
// in[0] is the input, n elements at any alignment of the element; out[0] is one element.
#pragma once
#include <type_traits>

#include "base/platform.h"
#include "base/rung.h"

namespace upsweep::ladders::reduce {

template <class T, class Op>
struct Args {
  const T* in;  // [n]
  T* out;       // [1]
  std::size_t n;
  Op op;
  const Params& params;
  Workspace* workspace;
  Stream stream;
};

// True when rung R takes this type and operator; a rung that does not take everything says so with `supports`.
template <class R, class T, class Op>
constexpr bool supports() {
  if constexpr (requires { R::template supports<T, Op>; }) return R::template supports<T, Op>;
  else return true;
}

template <class T>
constexpr bool is_reduce_type = sizeof(T) >= 4;  // i32 u32 i64 u64 f32 f64

template <class R>
RunFn find_run(Type type, Op op) {
  return visit(type, [&]<class Tag>(Tag) -> RunFn {
    using T = typename Tag::type;
    return visit(op, [&]<class O>(O) -> RunFn {
      if constexpr (is_reduce_type<T> && supports<R, T, O>())
        return [](const Call& c) -> Status {
          return R::template run<T, O>(Args<T, O>{static_cast<const T*>(c.in[0]), static_cast<T*>(c.out[0]), c.n, O{},
                                                  c.params, c.workspace, c.stream});
        };
      else return nullptr;
    });
  });
}

// The Rung of an implementation struct R: its name, R::story, and R::run<T, Op>(Args<T, Op>).
template <class R>
constexpr Rung make_rung(std::string_view name, Backend backend) {
  Rung rung{.primitive = "reduce", .name = name, .backend = backend, .story = R::story, .find = &find_run<R>};
  if constexpr (requires { R::reproducible_bits; }) rung.reproducible = R::reproducible_bits;
  if constexpr (requires { R::expected_wrong; }) rung.expected_wrong = R::expected_wrong;
  if constexpr (requires { R::flushes_subnormals; }) rung.flushes_subnormals = R::flushes_subnormals;
  if constexpr (requires { R::gpu_only; }) rung.gpu_only = R::gpu_only;
  return rung;
}

}  // namespace upsweep::ladders::reduce
