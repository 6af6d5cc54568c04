// The truth about a reduction, and how far from it an answer may lie.
//
// integers       exact, wrapping
// min, max       exact by value; NaN when any element is; -0 and +0 count as equal
// float sum      a reproducible rung: the correctly rounded sum, bit for bit. Any other: within
//                    ((1 + u)^(n-1) - 1) * sum |x|,   u = 2^-24 (f32), 2^-53 (f64)
//                of it, the worst case over all orders of n - 1 additions (Higham, Accuracy and Stability of Numerical
//                Algorithms, 2002, section 4.2). Where no order can round at all (every element a multiple of some 2^g,
//                and sum |x| <= 2^g / u), that is, on inputs made of small whole numbers, equal to it: there a lost or
//                doubled element always shows, however large n is.
// float product  within ((1 + u)^(n-1) - 1) * |product| where no order of multiplications can leave the normal range.
//                Where some order can, the right answer depends on the order, and only the kinds of value that no order
//                gives are refused: NaN unless both overflow and underflow are possible, infinity unless overflow is.
// NaN, infinity  as IEEE arithmetic gives them in every order. Where a partial sum can overflow in some order, infinity
//                and NaN are accepted from rungs that are not reproducible. A rung that says that it flushes subnormals
//                may lack all of them: n * the smallest normal number more.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/rung.h"

namespace upsweep::ladders::reduce {

class Oracle {
 public:
  virtual ~Oracle() = default;
  // Nothing if *out, one element, is right; otherwise one line: what it is and what it should be.
  virtual std::optional<std::string> check(const void* out, const Rung& rung) const = 0;
};

// Reads in[0..n) once. Type must be one that reduce takes (is_reduce_type).
std::unique_ptr<Oracle> make_oracle(Type type, Op op, const void* in, std::size_t n);

}  // namespace upsweep::ladders::reduce
