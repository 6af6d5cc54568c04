// The one-core SIMD saxpy, for rungs that build on it.
#pragma once
#include <cstddef>

#include "cpu/cache.h"
#include "upsweep/types.h"

namespace upsweep::ladders::saxpy {

// Computes out[i] = *a * x[i] + y[i] for i < n. All have the same type and need only its alignment; out may be x or y.
using Span = void (*)(const void* a, const void* x, const void* y, void* out, std::size_t n);

// Returns the loop for this type, these stores and this processor's instruction set. Resolve once, call many times.
Span simd_span(Type type, Stores stores);

}  // namespace upsweep::ladders::saxpy
