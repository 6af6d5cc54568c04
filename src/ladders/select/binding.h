// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/select/contract.h"

namespace upsweep::ladders::select {

inline constexpr ListedOperation operations[] = {
    {.operation = Selection::find_repeats, .typical = true},  // writes positions
    {.operation = Selection::nonzero},
    {.operation = Selection::select_if},
    {.operation = Selection::select_flagged},
    {.operation = Selection::unique},
    {.operation = Selection::run_length_encode, .typical = true},  // writes values and lengths
    {.operation = Selection::partition_if}};

struct Binding : EnumeratorChoice<Selection, Select, selection_names.size()> {
  static constexpr std::string_view primitive = "select";
  static constexpr auto& operations = ladders::select::operations;
  template <class T, class O>
  static Args<T, O> args(const Call& c) {
    const Array& positions = c.out[writes_lengths<O> ? 2 : 0];
    Args<T, O> a{c.execution(),
                 {c.in[0].as<const T>(), c.in[1].as<const std::uint8_t>(), c.n(), {}},
                 {nullptr, {nullptr, size_of(positions.type) == 8}, c.out[1].as<std::uint64_t>()}};
    if constexpr (has_predicate<O>) a.in.predicate = {c.scalars[0].as<T>()};
    if constexpr (writes_values<O>) a.out.values = c.out[0].as<T>();
    if constexpr (needs_positions<O>) a.out.positions.array = positions.data;
    return a;
  }
};

}  // namespace upsweep::ladders::select
