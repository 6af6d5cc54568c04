// The expected result of a * x + y.
//
// integers   wrapping, exact
// floats     fma(a, x, y), or the product and the sum rounded separately; all NaNs compare equal, and -0 equals +0
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "upsweep/scalar.h"

namespace upsweep::ladders::saxpy {

// Returns nullopt if out[0..n) is right, otherwise one line about the first wrong element.
std::optional<std::string> find_mistake(Type type, const Scalar& a, const void* x, const void* y, const void* out,
                                        std::size_t n);

}  // namespace upsweep::ladders::saxpy
