// Checks a histogram: every count must be exact, or the maximum of its counter if that is less.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/call.h"

namespace upsweep::ladders::histogram {

// Returns the counts of a call without saturation, followed by the number of samples in no bin.
std::vector<std::uint64_t> count(const Call& call);

// Returns nullopt if the call's outputs match `counts`; otherwise one line with the first wrong counter, its value, and
// the expected value.
std::optional<std::string> find_mistake(const std::vector<std::uint64_t>& counts, const Call& call);

}  // namespace upsweep::ladders::histogram
