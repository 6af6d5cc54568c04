// Plots records as SVG, readable on light and dark pages.
#pragma once
#include <string>
#include <vector>

#include "lab/record.h"

namespace upsweep::lab {

// Draws one row per series (primitive, type, operator, input, parameters, situation, device), with two charts over n:
// GB/s of every rung and peer under the ceiling, on logarithmic axes, and the speedup over the best peer. Rungs are
// coloured in ladder order; peers are dashed. Throws Error(invalid_argument) if no record has a time.
std::string plot_svg(const std::vector<Record>& records);

}  // namespace upsweep::lab
