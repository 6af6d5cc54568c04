// The one-core SIMD reduction, for the rungs that build on it.
#pragma once
#include <cstddef>

#include "upsweep/types.h"

namespace upsweep::ladders::reduce {

// *out = op over in[0..n), the neutral element if n is 0; any alignment of the element.
using SpanReduction = void (*)(const void* in, std::size_t n, void* out);

enum class From { caches, memory };  // a core's own caches, or anything further away

// Returns the loop for this processor's vector width and for where the elements are expected to lie: the best loops
// differ. Null for products of 8 and 16 bits. Resolve once, call many times.
SpanReduction simd_reduction(Type type, Op op, From from);

}  // namespace upsweep::ladders::reduce
