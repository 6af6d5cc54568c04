// Binds a Call to a rung's Args; for units that make Rungs.
#pragma once
#include "base/typed_rung.h"
#include "ladders/select/contract.h"

namespace upsweep::ladders::select {

// The type of positions in n elements, and of lengths up to n.
constexpr Type position_type(std::size_t n) { return wide(n) ? Type::u64 : Type::u32; }

// Calls f(Select<selection>{}) and returns what f returns.
template <class F>
constexpr decltype(auto) visit_selection(Selection selection, F&& f) {
  using enum Selection;
  switch (selection) {
    case find_repeats:
      return f(Select<find_repeats>{});
    case select_flagged:
      return f(Select<select_flagged>{});
    case unique:
      return f(Select<unique>{});
    case run_length_encode:
      return f(Select<run_length_encode>{});
    case partition_if:
      return f(Select<partition_if>{});
    case select_if:
      break;
  }
  return f(Select<select_if>{});
}

struct Binding : AnyType {
  static constexpr std::string_view primitive = "select";
  template <class F>
  static RunFn visit(Operation operation, F&& f) {
    return operation ? visit_selection(operation.as<Selection>(), f) : nullptr;
  }
  template <class T, class O>
  static Args<T, O> args(const Call& c) {
    Args<T, O> a{.in{c.in[0].as<const T>(), c.in[1].as<const std::uint8_t>(), c.n(), {}},
                 .out{nullptr, {nullptr, wide(c.n())}, c.out[1].as<std::uint64_t>()},
                 .tuning = c.tuning,
                 .workspace = c.workspace,
                 .stream = c.stream};
    if constexpr (has_predicate<O>) a.in.predicate = {c.scalars[0].as<T>()};
    if constexpr (writes_values<O>) a.out.values = c.out[0].as<T>();
    if constexpr (writes_positions<O>) a.out.positions.array = c.out[0].data;
    if constexpr (writes_lengths<O>) a.out.positions.array = c.out[2].data;
    return a;
  }
};

// make_rung<R>(name, backend): R has a Story and Status run<T, O>(const Args<T, O>&).
template <class R>
inline constexpr auto* make_rung = &make_typed_rung<Binding, R>;

}  // namespace upsweep::ladders::select
