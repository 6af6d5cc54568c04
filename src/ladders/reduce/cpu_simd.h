// The one-core SIMD reduction, for rungs that build on it.
#pragma once
#include <cstddef>

#include "upsweep/types.h"

namespace upsweep::ladders::reduce {

// Writes the reduction of in[0..n) to *out, or the neutral element if n is 0. `in` needs only the alignment of its
// elements.
using SpanReduction = void (*)(const void* in, std::size_t n, void* out);

enum class From { caches, memory };  // where the data is: in the core's private caches, or farther away

// Returns the fastest loop for this processor's vector width and the expected location of the data; null for products
// of types of 8 and 16 bits. Resolve once, call many times.
SpanReduction simd_reduction(Type type, Op op, From from);

}  // namespace upsweep::ladders::reduce
