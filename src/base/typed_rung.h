// Makes a Rung from an implementation that is a template over element type and operation. Shared by all contracts.
#pragma once
#include <bit>
#include <cstdint>
#include <tuple>

#include "base/coverage.h"
#include "base/rung.h"

namespace upsweep {

// The unsigned integer of the same size as T.
template <class T>
using UnsignedAs = std::tuple_element_t<std::bit_width(sizeof(T)) - 1,
                                        std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>>;

// True if rung R supports this type and operation. A rung with restrictions declares `supports`.
template <class R, class T, class O>
constexpr bool supports() {
  if constexpr (requires { R::template supports<T, O>; })
    return R::template supports<T, O>;
  else
    return true;
}

// The operation of a primitive without a choice: contracts and rungs always take one.
struct NoOperation {};

// Returns the function of R for a type and an operation, or null if R does not support them or is not compiled for them
// here. `Contract` says which of them the primitive takes, and makes a rung's arguments from a Call:
//   template <class T, class O> static constexpr bool takes;
//   template <class T, class O> static Args<T, O> args(const Call&);
//   template <class F> static RunFn visit(Operation, F&&);  calls f with the operation's struct, or with NoOperation
template <class Contract, class R>
RunFn find_typed_run(Type type, Operation operation) {
  return visit(type, [&]<class Tag>(Tag) -> RunFn {
    using T = typename Tag::type;
    return Contract::visit(operation, [&]<class O>(O) -> RunFn {
      if constexpr (Contract::template takes<T, O> && supports<R, T, O>() && covers<R, T, O>())
        return [](const Call& c) -> Status { return R::template run<T, O>(Contract::template args<T, O>(c)); };
      else
        return nullptr;
    });
  });
}

// Contract::visit for primitives whose operations are the operators of types.h.
template <class F>
RunFn visit_operator(Operation operation, F&& f) {
  return operation ? visit(operation.as<Op>(), f) : nullptr;
}

// Makes the Rung of an implementation struct R from its name, R::story, R::run<T, O>(args) and R's optional constants.
template <class Contract, class R>
constexpr Rung make_typed_rung(std::string_view name, Backend backend) {
  Rung rung{.primitive = Contract::primitive,
            .name = name,
            .backend = backend,
            .story = R::story,
            .find = &find_typed_run<Contract, R>};
  if constexpr (requires { R::reproducible_bits; }) rung.reproducible = R::reproducible_bits;
  if constexpr (requires { R::expected_wrong; }) rung.expected_wrong = R::expected_wrong;
  if constexpr (requires { R::flushes_subnormals; }) rung.flushes_subnormals = R::flushes_subnormals;
  if constexpr (requires { R::largest; }) rung.largest = R::largest;
  if constexpr (requires { R::synchronises; }) rung.synchronises = R::synchronises;
  if constexpr (requires { R::arrays; }) rung.arrays = R::arrays;
  if constexpr (requires { R::gpu_only; }) rung.gpu_only = R::gpu_only;
  return rung;
}

}  // namespace upsweep
