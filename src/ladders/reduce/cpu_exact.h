// Exact sums of whole arrays at close to the speed of rounded ones.
#pragma once
#include <cstddef>

#include "ladders/reduce/exact.h"

namespace upsweep::ladders::reduce {

// sum += in[0..n), exactly; on one core, for this processor's vector width. Any alignment of the element.
void deposit_all(const float* in, std::size_t n, ExactSum<float>& sum);
void deposit_all(const double* in, std::size_t n, ExactSum<double>& sum);

}  // namespace upsweep::ladders::reduce
