// Records as a picture: SVG, readable on a light and on a dark page.
#pragma once
#include <string>
#include <vector>

#include "lab/record.h"

namespace upsweep::lab {

// A row for each series (primitive, type, operator, input, parameters, device) with two charts over n: GB/s of every
// rung and peer under the ceiling, both axes logarithmic, and how many times as fast as the best peer they are. Rungs
// are coloured in the order of the ladder; peers are dashed. Throws Error(invalid_argument) when no record was timed.
std::string plot_svg(const std::vector<Record>& records);

}  // namespace upsweep::lab
