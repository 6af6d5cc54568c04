// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/select/contract.h"

namespace upsweep::ladders::select {

// The type of positions in n elements, and of lengths up to n.
constexpr Type position_type(std::size_t n) { return wide(n) ? Type::u64 : Type::u32; }

struct Binding : EnumeratorChoice<Selection, Select, selection_names.size()> {
  static constexpr std::string_view primitive = "select";
  template <class T, class O>
  static Args<T, O> args(const Call& c) {
    Args<T, O> a{c.execution(),
                 {c.in[0].as<const T>(), c.in[1].as<const std::uint8_t>(), c.n(), {}},
                 {nullptr, {nullptr, wide(c.n())}, c.out[1].as<std::uint64_t>()}};
    if constexpr (has_predicate<O>) a.in.predicate = {c.scalars[0].as<T>()};
    if constexpr (writes_values<O>) a.out.values = c.out[0].as<T>();
    if constexpr (writes_positions<O>) a.out.positions.array = c.out[0].data;
    if constexpr (writes_lengths<O>) a.out.positions.array = c.out[2].data;
    return a;
  }
};

}  // namespace upsweep::ladders::select
