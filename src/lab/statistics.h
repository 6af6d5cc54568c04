// Medians, quartiles, and when two measurements are one.
#pragma once
#include <vector>

namespace upsweep::lab {

struct Quartiles {
  double q1 = 0, median = 0, q3 = 0;
};

// By linear interpolation between order statistics (R's type 7). All zero for no samples.
Quartiles quartiles(std::vector<double> samples);

// |a - b| relative to the smaller; 0 when both are 0.
double relative_difference(double a, double b);

// A measured time and how well it repeats: the relative difference between two medians of the same thing (A/A).
struct Timing {
  Quartiles us;
  double aa_spread = 0;
};

// True when a and b differ by less than either differs from itself: print a tie.
bool tied(const Timing& a, const Timing& b);

// True when `after` is slower than `before` beyond doubt: by more than both A/A spreads together, and with the middle
// halves of the samples apart.
bool slower(const Timing& before, const Timing& after);

}  // namespace upsweep::lab
