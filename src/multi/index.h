// Indices, offsets and counts on a group: integers of the caller's type, counted over the whole array.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "multi/group_call.h"

namespace upsweep::multi {

// Throws Error(invalid_argument) unless output k's type can hold the number of all elements.
inline void require_index(const GroupCall& call, std::size_t k) {
  const OutputRole& role = call.contract().outputs[k];
  const Type given = call.out_type(k).value_or(call.first().out[k].type);
  require_type(call.contract().name, role.name, given, index_type(given, call.total()), role.types);
}

// Calls f with an unsigned integer of the width of an index type, which has the bits of a signed index too.
template <class F>
decltype(auto) visit_index(Type type, F&& f) {
  return size_of(type) == 4 ? f(std::uint32_t{}) : f(std::uint64_t{});
}

// Returns where each part of these sizes begins in the whole array, and its end.
inline std::vector<std::uint64_t> begins_of(std::span<const std::uint64_t> sizes) {
  std::vector<std::uint64_t> begins{0};
  for (const std::uint64_t size : sizes) begins.push_back(begins.back() + size);
  return begins;
}

inline void write_indices(Member& m, const AnyView& out, const std::vector<std::uint64_t>& values, std::size_t at = 0) {
  visit_index(out.type, [&]<class T>(T) {
    const std::vector<T> typed(values.begin(), values.end());
    m.write(out, at, typed.size(), typed.data());
  });
}

inline std::uint64_t read_index(Member& m, const AnyView& from, std::size_t at) {
  return visit_index(from.type, [&]<class T>(T index) {
    m.read(from, at, 1, &index);
    return std::uint64_t{index};
  });
}

}  // namespace upsweep::multi
