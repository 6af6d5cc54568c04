#include "lab/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace upsweep::lab {

Quartiles quartiles(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double fraction) {
    const double position = fraction * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (position - static_cast<double>(below)) * (samples[above] - samples[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

double relative_difference(double a, double b) {
  const double smaller = std::min(a, b);
  return a == b ? 0 : std::abs(a - b) / smaller;
}

bool tied(const Timing& a, const Timing& b) {
  return relative_difference(a.us.median, b.us.median) <= std::max(a.aa_spread, b.aa_spread);
}

bool slower(const Timing& before, const Timing& after) {
  return after.us.median > before.us.median * (1 + before.aa_spread + after.aa_spread) && after.us.q1 > before.us.q3;
}

}  // namespace upsweep::lab
