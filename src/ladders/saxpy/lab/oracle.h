// The expected result of a * x + y: exactly one of two answers.
//
// integers   wrapping, exact
// floats     fma(a, x, y), or a * x rounded and then the sum rounded; all NaNs are equal, and so are the two zeros
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "upsweep/scalar.h"

namespace upsweep::ladders::saxpy {

// Returns nothing if out[0..n) is right, otherwise one line about the first wrong element.
std::optional<std::string> find_mistake(Type type, const Scalar& a, const void* x, const void* y, const void* out,
                                        std::size_t n);

}  // namespace upsweep::ladders::saxpy
