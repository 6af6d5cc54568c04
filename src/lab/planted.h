// Inputs with a given share of selected elements, run length or number of distinct values, for primitives whose work
// depends on these. Their random streams are independent of the named inputs', so that the planted structure does not
// correlate with the values.
#pragma once
#include <cstddef>
#include <cstdint>

#include "upsweep/types.h"

namespace upsweep {

// Rewrites `values` so that about `share` of them are below the middle of the type's range, by setting or clearing the
// top bit of integers and the sign bit of floats.
void plant_below_middle(Type type, double share, std::uint64_t seed, std::size_t n, void* values);
// Rewrites `values` so that about `share` of them are nonzero. The others become zeros; those of floats keep their
// signs.
void plant_nonzero(Type type, double share, std::uint64_t seed, std::size_t n, void* values);
// Rewrites `values` into runs of equal elements with geometrically distributed lengths of this mean.
void plant_runs(Type type, double mean, std::uint64_t seed, std::size_t n, void* values);
// Replaces each value by one of `distinct` values, spread over all bits of the type.
void plant_distinct(Type type, std::uint64_t distinct, std::size_t n, void* values);
// Writes flags, about `share` of them nonzero.
void make_flags(double share, std::uint64_t seed, std::size_t n, std::uint8_t* flags);

}  // namespace upsweep
