// Compares two runs and finds the cases that became slower by more than the noise of both.
#pragma once
#include <string>
#include <vector>

#include "lab/record.h"
#include "lab/terminal.h"

namespace upsweep::lab {

enum class Change {
  same,  // within noise
  faster,
  slower,    // a regression
  broken,    // was right, now fails its check; also a regression
  repaired,  // the reverse of broken
  missing,   // only in the first run
  added,     // only in the second
};

struct Comparison {
  std::string what;  // "reduce/simd cpu f32 sum n=2^20 uniform"
  Change change = Change::same;
  double before_us = 0, after_us = 0;
  double noise = 0;  // sum of both A/A spreads, relative
  bool is_ceiling = false;
  // True if the code became slower or wrong. A slower ceiling means a slower machine, not worse code.
  bool regression() const { return !is_ceiling && (change == Change::slower || change == Change::broken); }
};

// Matches the records of two runs by case, contestant and device; if a run has several records of a case, the last one
// counts. Throws Error(invalid_argument) if device, driver, compiler or flags differ between the runs. With `across`
// they may differ, and the device is ignored, but each case of a run must be from one device. Relative changes below
// `threshold` count as none.
std::vector<Comparison> compare(const std::vector<Record>& before, const std::vector<Record>& after, bool across,
                                double threshold = 0);

// Formats the changes, worst first, and one line of totals. Unchanged cases are only counted, unless `all` is set.
std::string comparison_table(const std::vector<Comparison>& comparisons, bool all, const Terminal& terminal);

// Formats a comparison as one line of JSON.
std::string to_json(const Comparison& comparison);

std::string_view to_string(Change change);

}  // namespace upsweep::lab
