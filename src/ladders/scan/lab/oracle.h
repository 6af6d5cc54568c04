// The expected result of a scan and its tolerance, computed independently of the rungs: integers in 64 bits, floats in
// long double.
//
// integers   exact, wrapping
// min, max   exact by value; NaN from the first NaN on; -0 and +0 count as equal
// product    of floats: element i within ((1 + u)^i - 1) * |x_0 * ... * x_i| of the exact product, plus i times the
//            smallest subnormal times the product of all magnitudes above 1, for partial products that underflow. The
//            sign is exact. Infinity is accepted only if some order can overflow, NaN only if one can also reach 0.
// float sum  element i within ((1 + u)^i - 1) * sum |x_0..x_i|, u = 2^-24 (f32), 2^-53 (f64), of the exact prefix sum:
//            the worst case over all orders of its additions (Higham, Accuracy and Stability of Numerical Algorithms,
//            2002, section 4.2). The sum itself is computed in long double, whose own error is at most 2^-11 of that
//            bound. If some order can overflow, infinity and NaN are accepted. A zero sum is -0 if it has elements and
//            all are -0.
// f16, bf16  right if the rounded values of a right scan of f32
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "upsweep/scalar.h"

namespace upsweep::ladders::scan {

enum class Zeros { differ, are_equal };  // -0 and +0 as float sums; other libraries may start from +0

// Returns nullopt if out[0..n) is right for in[0..n), otherwise one line about the first wrong element. `initial`,
// unless empty, counts as an element before in[0].
std::optional<std::string> find_mistake(Type type, Op op, bool inclusive, const void* in, const void* out,
                                        std::size_t n, Zeros zeros = Zeros::differ, const Scalar& initial = {});

}  // namespace upsweep::ladders::scan
