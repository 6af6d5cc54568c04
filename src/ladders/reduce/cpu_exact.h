// Exact sums of arrays; from memory, nearly as fast as rounded sums.
#pragma once
#include <cstddef>

#include "ladders/reduce/exact.h"

namespace upsweep::ladders::reduce {

// Adds in[0..n) to sum exactly, on one core, with SIMD. `in` needs only the alignment of its elements.
void deposit_all(const float* in, std::size_t n, ExactSum<float>& sum);
void deposit_all(const double* in, std::size_t n, ExactSum<double>& sum);

}  // namespace upsweep::ladders::reduce
