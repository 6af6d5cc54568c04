// Exact sums of whole arrays at close to the speed of rounded ones.
#pragma once
#include <cstddef>

#include "ladders/reduce/exact.h"

namespace upsweep::ladders::reduce {

// Adds in[0..n) to sum, exactly; on one core, with this processor's vectors. Any alignment of the element.
void deposit_all(const float* in, std::size_t n, ExactSum<float>& sum);
void deposit_all(const double* in, std::size_t n, ExactSum<double>& sum);

}  // namespace upsweep::ladders::reduce
