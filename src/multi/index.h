// Indices, offsets and counts on a group: integers of the caller's type, counted over the whole array.
#pragma once
#include <cstdint>
#include <vector>

#include "multi/group_call.h"

namespace upsweep::multi {

// Throws Error(invalid_argument) unless output k's type can hold the number of all elements.
inline void require_index(const GroupCall& call, std::size_t k) {
  const OutputRole& role = call.contract().outputs[k];
  const Type given = call.out_type(k).value_or(call.first().out[k].type);
  require_type(call.contract().name, role.name, given, index_type(given, call.total()), role.types);
}

inline void write_indices(Member& m, const AnyView& out, const std::vector<std::uint64_t>& values, std::size_t at = 0) {
  visit(out.type, [&]<class T>(TypeTag<T>) {
    std::vector<T> typed;
    for (const std::uint64_t value : values) typed.push_back(static_cast<T>(value));
    m.write(out, at, typed.size(), typed.data());
  });
}

inline std::uint64_t read_index(Member& m, const AnyView& from, std::size_t at) {
  return visit_any(from.type,
                   [&]<class T>(TypeTag<T>) { return static_cast<std::uint64_t>(m.read(from, at).as<T>()); });
}

}  // namespace upsweep::multi
