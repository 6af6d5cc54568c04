// What select should give, element by element, and the inputs that decide how much it selects.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/call.h"
#include "upsweep/operations.h"

namespace upsweep::ladders::select {

// What a case is made of, in host memory.
struct Problem {
  Type type;
  Selection selection;
  std::size_t n;
  const void* values;         // [n]
  const std::uint8_t* flags;  // [n], select_flagged
  Scalar below;  // the limit, of those that have one
};

// How many elements are selected.
std::size_t count_selected(const Problem& problem);

// Nothing if the outputs (in the contract's order) are right, and what comes after them in out[0] and out[2] is still
// `untouched`; otherwise the first mistake, in one line.
std::optional<std::string> find_mistake(const Problem& problem, const void* const* out, std::byte untouched);

// Rewrites `values` so that select_if and partition_if select about one element in 1 / share, and find_repeats as many
// pairs: by the top bit in the one case (integers, and the sign of floats), by repeats in the other.
void plant_share(Type type, Selection selection, double share, std::uint64_t seed, std::size_t n, void* values);
// Rewrites `values` into runs of equal elements, geometrically distributed about this mean.
void plant_runs(Type type, double mean, std::uint64_t seed, std::size_t n, void* values);
// Flags, of which about one in 1 / share is not 0.
void make_flags(double share, std::uint64_t seed, std::size_t n, std::uint8_t* flags);

}  // namespace upsweep::ladders::select
