// Makes Rungs from implementation structs. Included where Rungs are made, not by the implementations.
#pragma once
#include "base/coverage.h"
#include "base/rung.h"

namespace upsweep {

// True if rung R supports this type and operation. A rung with restrictions declares `supports`.
template <class R, class T, class O>
constexpr bool supports() {
  if constexpr (requires { R::template supports<T, O>; })
    return R::template supports<T, O>;
  else
    return true;
}

// The operation of a primitive without a choice: bindings and rungs always take one.
struct NoOperation {};

// Bases of a ladder's Binding, which adds `primitive` and, for what the primitive does not take, its own `takes`:
//   template <class T, class O> static Args<T, O> args(const Call&);  a rung's typed arguments
// visit() calls f with the struct of the operation that a call names, or with NoOperation.
struct AnyType {
  template <class T, class O>
  static constexpr bool takes = true;
};
struct SingleOperation : AnyType {
  template <class F>
  static RunFn visit(Operation, F&& f) {
    return f(NoOperation{});
  }
};
struct OperatorChoice : AnyType {  // the operators of upsweep/operators.h
  template <class F>
  static RunFn visit(Operation operation, F&& f) {
    return operation ? upsweep::visit(operation.as<Op>(), f) : nullptr;
  }
};

// Returns the function of R for a type and an operation, or null if the primitive does not take them, R does not
// support them or is not compiled for them here.
template <class Binding, class R>
RunFn find_typed_run(Type type, Operation operation) {
  return visit(type, [&]<class Tag>(Tag) -> RunFn {
    using T = typename Tag::type;
    return Binding::visit(operation, [&]<class O>(O) -> RunFn {
      if constexpr (Binding::template takes<T, O> && supports<R, T, O>() && covers<R, T, O>())
        return [](const Call& c) -> Status { return R::template run<T, O>(Binding::template args<T, O>(c)); };
      else
        return nullptr;
    });
  });
}

// Makes a Rung from R::story and R's optional constants.
template <class R>
constexpr Rung make_rung_with(std::string_view primitive, std::string_view name, Backend backend,
                              RunFn (*find)(Type, Operation)) {
  Rung rung{.primitive = primitive, .name = name, .backend = backend, .story = R::story, .find = find};
  if constexpr (requires { R::reproducible_bits; }) rung.reproducible = R::reproducible_bits;
  if constexpr (requires { R::expected_wrong; }) rung.expected_wrong = R::expected_wrong;
  if constexpr (requires { R::flushes_subnormals; }) rung.flushes_subnormals = R::flushes_subnormals;
  if constexpr (requires { R::blocks_in_order; }) rung.blocks_in_order = R::blocks_in_order;
  if constexpr (requires { R::largest; }) rung.largest = R::largest;
  if constexpr (requires { R::synchronises; }) rung.synchronises = R::synchronises;
  if constexpr (requires { R::arrays; }) rung.arrays = R::arrays;
  if constexpr (requires { R::gpu_only; }) rung.gpu_only = R::gpu_only;
  return rung;
}

// The same for a struct with R::run<T, O>(Args<T, O>). Each ladder's make_rung is this with its Binding.
template <class Binding, class R>
constexpr Rung make_typed_rung(std::string_view name, Backend backend) {
  return make_rung_with<R>(Binding::primitive, name, backend, &find_typed_run<Binding, R>);
}

}  // namespace upsweep
