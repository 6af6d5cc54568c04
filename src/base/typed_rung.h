// Makes Rungs from implementation structs. Included where Rungs are made, not by the implementations.
#pragma once
#include <type_traits>
#include <utility>

#include "base/coverage.h"
#include "base/rung.h"

namespace upsweep {

// True if O finds an index: its output is u64 whatever the type of the elements, and its typed arguments may differ
// from those of the primitive's other operations.
template <class O>
inline constexpr bool finds_index = requires { O::finds_index; };

// True if rung R supports this type and operation. By default, a rung supports everything except the operations that
// find indices. A rung with other restrictions, or one that finds indices, declares `supports`.
template <class R, class T, class O>
constexpr bool supports() {
  if constexpr (requires { R::template supports<T, O>; })
    return R::template supports<T, O>;
  else
    return !finds_index<O>;
}

// Calls f with the enumerator as a compile-time constant, std::integral_constant<E, e>; E's values are 0 to Count - 1.
template <std::size_t Count, std::size_t K = 0, class E, class F>
constexpr decltype(auto) visit_enumerator(E e, F&& f) {
  if constexpr (K + 1 < Count)
    if (e != E{K}) return visit_enumerator<Count, K + 1>(e, f);
  return f(std::integral_constant<E, E{K}>{});
}

// The operation of a primitive that has only one: bindings and rungs always take an operation.
struct NoOperation {};

// Bases of a ladder's Binding, which adds `primitive`; `operations`, if the primitive has several; `takes`, if the
// primitive does not support every type; and:
//   template <class T, class O> static Args<T, O> args(const Call&);  a rung's typed arguments
// If halves (f16, bf16) are among the primitive's types:
//   static constexpr bool takes_halves = true;
// If the primitive has an initial value, which only some rungs take:
//   static Scalar initial(const Call&);
// If the primitive may reduce segments, which only some rungs do:
//   static std::size_t segment_length(const Call&);
// If the primitive may write exact sums, which only rungs that declare `writes_exact` do:
//   static bool wants_exact(const Call&);
// If sums may be wider than the elements, in which case the Binding also has args<T, O, Out>:
//   static Type output_type(const Call&);
//   template <class T, class O> static constexpr bool writes;         T may be the output's type; by default, always
// If results written as some T are computed in a wider type, by rungs that take wider outputs:
//   template <class T, class O> static constexpr bool computes_wider;
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
struct EnumeratorChoice : AnyType {  // Struct<e> for each enumerator e of E
  template <class F>
  static decltype(auto) visit(Operation operation, F&& f) {
    return visit_enumerator<Count>(operation.as<E>(), [&](auto e) { return f(Struct<e()>{}); });
  }
};

// A rung that takes the Call itself, not typed arguments.
template <class R>
concept Untyped = requires(const Call& c) {
  R::run(c);
};

template <class Binding, class T, class O>
using ArgsOf = decltype(Binding::template args<T, O>(std::declval<const Call&>()));

// True if rung R supports an initial value.
template <class R>
constexpr bool takes_initial() {
  if constexpr (requires { R::takes_initial; })
    return R::takes_initial;
  else
    return false;
}
inline constexpr Status no_exact_sum{Code::unsupported, 0, "this rung writes no exact sum"};
inline constexpr Status no_initial{Code::unsupported, 0, "this rung takes no initial value"};

// Returns the type of the output of a sum: the caller's, if it is a permitted wider type; otherwise the elements'.
constexpr Type sum_type(const Call& c) {
  const Type given = c.out[0].type;
  return c.operation == Operation(Op::sum) && widens_sums(c.type(), given) ? given : c.type();
}
// True if O is Sum and sums of T may have a wider type.
template <class T, class O>
constexpr bool has_wider_sums() {
  bool any = false;
  if (std::is_same_v<O, Sum>)
    for (std::size_t t = 0; t < type_names.size(); ++t) any |= widens_sums(type_of<T>(), static_cast<Type>(t));
  return any;
}
// True if results of O that are written as T are computed in a wider type.
template <class Binding, class T, class O>
constexpr bool computes_wider() {
  if constexpr (requires { Binding::template computes_wider<T, O>; })
    return Binding::template computes_wider<T, O>;
  else
    return false;
}
// True if rung R supports sums that are wider than its elements.
template <class R>
constexpr bool takes_wider_output() {
  if constexpr (requires { R::takes_wider_output; })
    return R::takes_wider_output;
  else
    return false;
}
inline constexpr Status no_wider_output{Code::unsupported, 0, "this rung takes no output wider than its input"};

// True if rung R reduces segments.
template <class R>
constexpr bool takes_segments() {
  if constexpr (requires { R::takes_segments; })
    return R::takes_segments;
  else
    return false;
}
inline constexpr Status no_segments{Code::unsupported, 0, "this rung takes no segments"};

// Converts a call's initial value to a typed argument, for Binding::args.
template <class T, class O>
Initial<T, O> initial_of(const Scalar& scalar) {
  if (!scalar) return {};
  return {scalar.as<T>(), true};
}

// True if outputs may have the type of the elements.
template <class Binding, class T, class O>
constexpr bool writes_elements() {
  if constexpr (requires { Binding::template writes<T, O>; })
    return Binding::template writes<T, O>;
  else
    return true;
}

template <class Binding, class R, class T, class O>
Status run_call(const Call& c) {
  if constexpr (requires { Binding::initial(c); } && !takes_initial<R>())
    if (Binding::initial(c)) return no_initial;
  if constexpr (requires { Binding::segment_length(c); } && !takes_segments<R>())
    if (Binding::segment_length(c)) return no_segments;
  if constexpr (requires { Binding::wants_exact(c); } && !requires { R::writes_exact; })
    if (Binding::wants_exact(c)) return no_exact_sum;
  if constexpr (requires { Binding::output_type(c); } && !finds_index<O>) {
    const Type out = Binding::output_type(c);
    if constexpr (takes_wider_output<R>() && has_wider_sums<T, O>())
      if (out != type_of<T>())
        return visit(out, [&]<class Out>(TypeTag<Out>) -> Status {
          if constexpr (widens_sums(type_of<T>(), type_of<Out>()))
            return R::template run<T, O>(Binding::template args<T, O, Out>(c));
          else
            return no_wider_output;
        });
    if (out != type_of<T>()) return no_wider_output;
  }
  if constexpr (writes_elements<Binding, T, O>())
    return R::template run<T, O>(Binding::template args<T, O>(c));
  else
    return no_wider_output;
}

// Returns the function of R for a type and an operation, or null if the primitive does not take them, R does not
// support them or is not compiled for them here.
template <class Binding, class R>
RunFn find_typed_run(Type type, Operation operation) {
  if (!operation && !std::is_base_of_v<SingleOperation, Binding>) return nullptr;
  const auto find = [&]<class T>(TypeTag<T>) -> RunFn {
    return Binding::visit(operation, [&]<class O>(O) -> RunFn {
      if constexpr (!Binding::template takes<T, O> || !supports<R, T, O>())
        return nullptr;
      else if constexpr (computes_wider<Binding, T, O>() && !takes_wider_output<R>())
        return nullptr;
      else if constexpr (Untyped<R>)
        return &R::run;
      else if constexpr (covers<Binding, R, T, O>() && (writes_elements<Binding, T, O>() || takes_wider_output<R>()))
        return &run_call<Binding, R, T, O>;
      else
        return nullptr;
    });
  };
  if constexpr (requires { Binding::takes_halves; })
    return visit_any(type, find);
  else
    return is_half_type(type) ? nullptr : visit(type, find);
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
  rung.takes_initial = takes_initial<R>();
  rung.takes_wider_output = takes_wider_output<R>();
  rung.takes_segments = takes_segments<R>();
  if constexpr (requires { R::any_order; }) rung.any_order = R::any_order;
  if constexpr (requires { R::needs; }) rung.needs = R::needs;
  if constexpr (requires { R::largest; }) rung.largest = R::largest;
  if constexpr (requires { R::largest_emulated; }) rung.largest_emulated = R::largest_emulated;
  if constexpr (requires { R::ring_bytes; }) rung.ring_bytes = R::ring_bytes;
  if constexpr (requires { R::tile_bytes; }) rung.tile_bytes = R::tile_bytes;
  if constexpr (requires { R::synchronises; }) rung.synchronises = R::synchronises;
  if constexpr (requires { R::takes_scratch; }) rung.takes_scratch = R::takes_scratch;
  if constexpr (requires { R::limits_scratch; }) rung.limits_scratch = R::limits_scratch;
  if constexpr (requires { R::arrays; }) rung.arrays = R::arrays;
  if constexpr (requires { R::gpu_only; }) rung.gpu_only = R::gpu_only;
  if constexpr (requires { R::thresholds; }) rung.thresholds = R::thresholds;
  return rung;
}

}  // namespace upsweep
