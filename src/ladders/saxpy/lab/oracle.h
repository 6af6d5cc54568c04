// The truth about a * x + y: two answers, and nothing between or beside them.
//
// integers   wrapping, exact
// floats     fma(a, x, y), or a * x rounded and then the sum rounded; NaNs are one value, and so are the two zeros
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "upsweep/scalar.h"

namespace upsweep::ladders::saxpy {

// Nothing if out[0..n) is right; otherwise one line: the first wrong element, what it is, what it should be.
std::optional<std::string> find_mistake(Type type, const Scalar& a, const void* x, const void* y, const void* out,
                                        std::size_t n);

}  // namespace upsweep::ladders::saxpy
