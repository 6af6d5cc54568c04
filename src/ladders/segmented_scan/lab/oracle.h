// The truth about a segmented scan: scan's, for each segment by itself (scan/oracle.h).
#pragma once
#include <optional>
#include <string>

#include "ladders/segmented_scan/contract.h"

namespace upsweep::ladders::segmented_scan {

// Nothing if out[0..n) is right for in[0..n); otherwise one line: the first wrong element, what it is, what it should
// be.
std::optional<std::string> find_mistake(Type type, Op op, bool inclusive, const void* in, const Heads& heads,
                                        const void* out, std::size_t n);

}  // namespace upsweep::ladders::segmented_scan
