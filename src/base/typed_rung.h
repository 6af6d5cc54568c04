// From an implementation that is a template over type and operator to a Rung: what every such primitive's contract.h
// shares.
#pragma once
#include <bit>
#include <cstdint>
#include <tuple>

#include "base/rung.h"

namespace upsweep {

// The unsigned integer as wide as a T.
template <class T>
using UnsignedAs = std::tuple_element_t<std::bit_width(sizeof(T)) - 1,
                                        std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>>;

// True when rung R takes this type and operator; a rung that does not take everything says so with `supports`.
template <class R, class T, class Op>
constexpr bool supports() {
  if constexpr (requires { R::template supports<T, Op>; })
    return R::template supports<T, Op>;
  else
    return true;
}

// f of what `op` names: an operator, unless the contract has operations of its own.
template <class Contract, class F>
RunFn visit_op(Op op, F&& f) {
  if constexpr (requires { Contract::visit(op, f); })
    return Contract::visit(op, f);
  else
    return is_operator(op) ? visit(op, f) : nullptr;
}

// The function of R for a type and an operator, or null. `Contract` says which of them the primitive takes, and how
// the arguments of a rung are made of a Call:
//   template <class T, class Op> static constexpr bool takes;
//   template <class T, class Op> static Args<T, Op> args(const Call&);
//   template <class F> static RunFn visit(Op, F&&);  where it has operations of its own
template <class Contract, class R>
RunFn find_typed_run(Type type, Op op) {
  return visit(type, [&]<class Tag>(Tag) -> RunFn {
    using T = typename Tag::type;
    return visit_op<Contract>(op, [&]<class O>(O) -> RunFn {
      if constexpr (Contract::template takes<T, O> && supports<R, T, O>())
        return [](const Call& c) -> Status { return R::template run<T, O>(Contract::template args<T, O>(c)); };
      else
        return nullptr;
    });
  });
}

// The Rung of an implementation struct R: its name, R::story, what R says of itself, and R::run<T, Op>(args).
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
