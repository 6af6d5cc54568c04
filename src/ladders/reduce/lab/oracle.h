// The expected result of a reduction and its tolerance, computed independently of the rungs: integers in 64 bits, float
// sums by sum_by_exponent.h.
//
// integers       exact, wrapping
// min, max       exact by value; NaN if any element is; -0 and +0 count as equal
// float sum      a reproducible rung: the correctly rounded sum, bit for bit. Any other rung: within
//                    ((1 + u)^(n-1) - 1) * sum |x|,   u = 2^-24 (f32), 2^-53 (f64)
//                of the exact sum, the worst case over all orders of n - 1 additions (Higham, Accuracy and Stability of
//                Numerical Algorithms, 2002, section 4.2). If no order can round (every element is a multiple of some
//                2^g, and sum |x| <= 2^g / u), as on inputs of small whole numbers, the result must be exact, so that a
//                lost or doubled element is detected at any n.
// float product  within ((1 + u)^(n-1) - 1) * |product| if no order of multiplications can leave the normal range.
//                Otherwise the result depends on the order, and only values that no order can give are rejected: NaN
//                unless both overflow and underflow are possible, infinity unless overflow is.
// zero           a zero float sum is -0 if there are elements and all are -0, otherwise +0. Either zero is accepted
//                from a peer, and from a rung that flushes subnormals unless all elements are zero
// NaN, infinity  as IEEE arithmetic gives them in every order. If a partial sum can overflow in some order, both are
//                accepted from rungs that are not reproducible. A rung that flushes subnormals may lose all of them,
//                which adds n * the smallest normal number to the tolerance.
// f16, bf16      a sum is right if it is the rounded value of a right sum of f32
// argmin, argmax exact: the first NaN if there is one, otherwise the first of the smallest or largest elements
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "base/rung.h"
#include "upsweep/parameters/reduce.h"

namespace upsweep::ladders::reduce {

// Returns nullopt if *out, one element, is right for this rung; otherwise one line with the actual and the expected
// value.
using Oracle = std::function<std::optional<std::string>(const void* out, const Rung& rung)>;

// Returns the oracle of in[0..n), which is read before the return and not kept. `type` must be one that reduce
// supports. `initial`, unless empty, counts as one more element.
Oracle make_oracle(Type type, Op op, const void* in, std::size_t n, const Scalar& initial = {});
// Returns the oracle of argmin or argmax; n > 0.
Oracle make_oracle(Type type, IndexOf which, const void* in, std::size_t n);

}  // namespace upsweep::ladders::reduce
