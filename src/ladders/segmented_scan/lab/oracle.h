// Verifies a segmented scan: each segment must pass the oracle of scan (scan/lab/oracle.h).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ladders/scan/lab/oracle.h"

namespace upsweep::ladders::segmented_scan {

// Returns nullopt if out[0..n) is right for in[0..n), otherwise one line about the first wrong element. `heads` holds
// the offsets of the segments, ascending; `initial` is as in scan.
std::optional<std::string> find_mistake(Type type, Op op, bool inclusive, const void* in,
                                        std::span<const std::uint64_t> heads, const void* out, std::size_t n,
                                        scan::Zeros zeros = scan::Zeros::differ, const Scalar& initial = {});

}  // namespace upsweep::ladders::segmented_scan
