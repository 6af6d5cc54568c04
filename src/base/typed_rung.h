// Makes Rungs from implementation structs. Included where Rungs are made, not by the implementations.
#pragma once
#include <type_traits>
#include <utility>

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

// Calls f with the enumerator as a constant, an std::integral_constant<E, e>; E's values are 0 to Count - 1.
template <std::size_t Count, std::size_t K = 0, class E, class F>
constexpr decltype(auto) visit_enumerator(E e, F&& f) {
  if constexpr (K + 1 < Count)
    if (e != E{K}) return visit_enumerator<Count, K + 1>(e, f);
  return f(std::integral_constant<E, E{K}>{});
}

// The operation of a primitive without a choice: bindings and rungs always take one.
struct NoOperation {};

// Bases of a ladder's Binding, which adds `primitive`, the list of its `operations` if they are types, and, for what
// the primitive does not take, its own `takes`:
//   template <class T, class O> static Args<T, O> args(const Call&);  a rung's typed arguments
// visit() calls f with the struct of the operation that a call names, or with NoOperation.
struct AnyType {
  template <class T, class O>
  static constexpr bool takes = true;
};
struct SingleOperation : AnyType {
  template <class F>
  static decltype(auto) visit(Operation, F&& f) {
    return f(NoOperation{});
  }
};
struct OperatorChoice : AnyType {  // the operators of upsweep/operators.h
  template <class F>
  static decltype(auto) visit(Operation operation, F&& f) {
    return upsweep::visit(operation.as<Op>(), f);
  }
};
template <class E, template <E> class Struct, std::size_t Count>
struct EnumeratorChoice : AnyType {  // Struct<e> for each enumerator e of the primitive's own
  template <class F>
  static decltype(auto) visit(Operation operation, F&& f) {
    return visit_enumerator<Count>(operation.as<E>(), [&](auto e) { return f(Struct<e()>{}); });
  }
};

// A rung that takes calls as they are.
template <class R>
concept Untyped = requires(const Call& c) {
  R::run(c);
};

// The arguments of a rung for type T and operation O.
template <class Binding, class T, class O>
using ArgsOf = decltype(Binding::template args<T, O>(std::declval<const Call&>()));

template <class Binding, class R, class T, class O>
Status run_call(const Call& c) {
  return R::template run<T, O>(Binding::template args<T, O>(c));
}

// Returns the function of R for a type and an operation, or null if the primitive does not take them, R does not
// support them or is not compiled for them here.
template <class Binding, class R>
RunFn find_typed_run(Type type, Operation operation) {
  if (!operation && !std::is_base_of_v<SingleOperation, Binding>) return nullptr;
  return visit(type, [&]<class Tag>(Tag) -> RunFn {
    using T = typename Tag::type;
    return Binding::visit(operation, [&]<class O>(O) -> RunFn {
      if constexpr (!Binding::template takes<T, O>)
        return nullptr;
      else if constexpr (Untyped<R>)
        return &R::run;
      else if constexpr (supports<R, T, O>() && covers<Binding, R, T, O>())
        return &run_call<Binding, R, T, O>;
      else
        return nullptr;
    });
  });
}

// Makes a Rung from R, which has a Story and Status run<T, O>(const Args<T, O>&), or run(const Call&); its other
// constants are optional.
template <class Binding, class R>
constexpr Rung make_rung(std::string_view name, Backend backend) {
  Rung rung{.primitive = Binding::primitive,
            .name = name,
            .backend = backend,
            .story = R::story,
            .find = &find_typed_run<Binding, R>};
  if constexpr (requires { R::reproducible_bits; }) rung.reproducible = R::reproducible_bits;
  if constexpr (requires { R::expected_wrong; }) rung.expected_wrong = R::expected_wrong;
  if constexpr (requires { R::flushes_subnormals; }) rung.flushes_subnormals = R::flushes_subnormals;
  if constexpr (requires { R::blocks_in_order; }) rung.blocks_in_order = R::blocks_in_order;
  if constexpr (requires { R::any_order; }) rung.any_order = R::any_order;
  if constexpr (requires { R::needs; }) rung.needs = R::needs;
  if constexpr (requires { R::largest; }) rung.largest = R::largest;
  if constexpr (requires { R::largest_emulated; }) rung.largest_emulated = R::largest_emulated;
  if constexpr (requires { R::ring_bytes; }) rung.ring_bytes = R::ring_bytes;
  if constexpr (requires { R::synchronises; }) rung.synchronises = R::synchronises;
  if constexpr (requires { R::limits_scratch; }) rung.limits_scratch = R::limits_scratch;
  if constexpr (requires { R::arrays; }) rung.arrays = R::arrays;
  if constexpr (requires { R::gpu_only; }) rung.gpu_only = R::gpu_only;
  return rung;
}

}  // namespace upsweep
