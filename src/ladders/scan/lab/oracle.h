// The expected result of a scan, and the error that is accepted.
//
// integers   exact, wrapping
// min, max   exact by value; NaN from the first NaN on; -0 and +0 count as equal
// float sum  element i within ((1 + u)^i - 1) * sum |x_0..x_i|, u = 2^-24 (f32), 2^-53 (f64), of the sum of its prefix:
//            the worst case over all orders of its additions (Higham, Accuracy and Stability of Numerical Algorithms,
//            2002, section 4.2). The sum itself is computed in long double, whose own error is at most 2^-11 of that
//            bound. If some order can overflow, infinity and NaN are accepted.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "upsweep/types.h"

namespace upsweep::ladders::scan {

// Returns nothing if out[0..n) is right for in[0..n), otherwise one line about the first wrong element.
std::optional<std::string> find_mistake(Type type, Op op, bool inclusive, const void* in, const void* out,
                                        std::size_t n);

}  // namespace upsweep::ladders::scan
