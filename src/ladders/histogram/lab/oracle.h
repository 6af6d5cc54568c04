// The truth about a histogram: every count is exact, or its counter's largest value.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/call.h"

namespace upsweep::ladders::histogram {

// Returns the counts of a call's counters, without saturation, and after them the number of samples in no bin.
std::vector<std::uint64_t> count(const Call& call);

// Returns nothing if the call's outputs are these counts; otherwise one line: the first wrong counter, its value, the
// value expected.
std::optional<std::string> find_mistake(const std::vector<std::uint64_t>& counts, const Call& call);

}  // namespace upsweep::ladders::histogram
