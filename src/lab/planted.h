// Inputs with a given share, run length or number of different values, for primitives whose work depends on it. Their
// random numbers are independent of those of the named inputs, so that what is planted does not follow the values.
#pragma once
#include <cstddef>
#include <cstdint>

#include "upsweep/types.h"

namespace upsweep {

// Rewrites `values` so that about `share` of them are below the middle of the type's range: by the top bit of integers,
// and the sign of floats.
void plant_below_middle(Type type, double share, std::uint64_t seed, std::size_t n, void* values);
// Rewrites `values` into runs of equal elements, geometrically distributed about this mean length.
void plant_runs(Type type, double mean, std::uint64_t seed, std::size_t n, void* values);
// Replaces every value by one of `distinct`, spread over all bits of the type.
void plant_distinct(Type type, std::uint64_t distinct, std::size_t n, void* values);
// Writes flags, of which about `share` are nonzero.
void make_flags(double share, std::uint64_t seed, std::size_t n, std::uint8_t* flags);

}  // namespace upsweep
