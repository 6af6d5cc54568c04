// Compares two runs and finds the cases that slowed down by more than the run-to-run noise of both.
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
  repaired,  // the reverse
  missing,   // only in the first run
  added,     // only in the second
};

struct Comparison {
  std::string what;  // "reduce/simd cpu f32 sum n=2^20 uniform"
  Change change = Change::same;
  double before_us = 0, after_us = 0;
  double noise = 0;  // sum of both A/A spreads, relative
  bool is_ceiling = false;
  // True if the code got worse. A slower ceiling means a slower machine instead.
  bool regression() const { return !is_ceiling && (change == Change::slower || change == Change::broken); }
};

// Matches records by case, contestant and device; of two records for the same case, the later one counts. Throws
// Error(invalid_argument) if device, driver, compiler or flags differ. Across environments the device is ignored, but
// then it throws if a run measured a case on two devices. Relative changes below `threshold` are ignored.
std::vector<Comparison> compare(const std::vector<Record>& before, const std::vector<Record>& after, bool across,
                                double threshold = 0);

// The changes, worst first, and one line of totals. Unchanged cases are listed only if `all`, otherwise counted.
std::string comparison_table(const std::vector<Comparison>& comparisons, bool all, const Terminal& terminal);

// One JSON line per comparison.
std::string to_json(const Comparison& comparison);

std::string_view to_string(Change change);

}  // namespace upsweep::lab
