// Medians, quartiles, and the test for ties.
#pragma once
#include <vector>

namespace upsweep::lab {

struct Quartiles {
  double q1 = 0, median = 0, q3 = 0;
};

// Returns the quartiles by linear interpolation between order statistics (R's type 7); zeros if there are no samples.
Quartiles quartiles(std::vector<double> samples);

// Returns |a - b| / min(a, b); 0 if a and b are equal.
double relative_difference(double a, double b);

// A measured time and its repeatability: the relative difference of the medians of two identical measurements (A/A).
struct Timing {
  Quartiles us;
  double aa_spread = 0;
};

// True if a and b differ by no more than the larger A/A spread, so that tables print a tie.
bool tied(const Timing& a, const Timing& b);

// True if `after` is significantly slower than `before`: by more than the sum of both A/A spreads, and with disjoint
// interquartile ranges.
bool slower(const Timing& before, const Timing& after);

}  // namespace upsweep::lab
