// Times of the scenes beside those that others published.
#pragma once
#include <string>
#include <vector>

#include "lab/record.h"
#include "lab/terminal.h"

namespace upsweep::ladders::render {

// A line for each scene that was drawn as others draw it, with all its circles into 1024 x 1024 pixels: their time,
// that of our fastest rung and how often it fits into theirs; (F) where a rung is wrong. Empty if there is no such
// scene.
std::string score_table(const std::vector<lab::Record>& records, const lab::Terminal& terminal);

}  // namespace upsweep::ladders::render
