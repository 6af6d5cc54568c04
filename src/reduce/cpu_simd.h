// The one-core SIMD reduction, for the rungs that build on it.
#pragma once
#include <cstddef>

#include "upsweep/types.h"

namespace upsweep::reduce {

// *out = op over in[0..n), n elements; any alignment of the element.
using SpanReduction = void (*)(const void* in, std::size_t n, void* out);

// For this processor's vector width. Type must be one that reduce takes. Resolve once, call many times.
SpanReduction simd_reduction(Type type, Op op);

}  // namespace upsweep::reduce
