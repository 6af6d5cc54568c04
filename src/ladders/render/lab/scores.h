// Compares our times for the scenes with published times.
#pragma once
#include <string>
#include <vector>

#include "lab/record.h"
#include "lab/terminal.h"

namespace upsweep::ladders::render {

// Returns a table with one line per scene that was drawn as published, with all its circles into 1024 x 1024 pixels:
// the published times, the time of our fastest rung, and the speedup, or (F) if a rung is wrong. Returns an empty
// string if there is no such scene.
std::string score_table(const std::vector<lab::Record>& records, const lab::Terminal& terminal);

}  // namespace upsweep::ladders::render
