// Circles in text: CSV and JSON, after any byte order mark. See circle_file.h.
#pragma once
#include <string_view>

#include "ladders/render/lab/circle_file.h"

namespace upsweep::ladders::render {

// Each calls take(circle) for each circle, adds to file.skipped, and throws Error(bad_file).
void read_csv(std::string_view text, ColourRange colours, const TakeCircle& take, CircleFile& file);
void read_json(std::string_view text, ColourRange colours, const TakeCircle& take, CircleFile& file);

}  // namespace upsweep::ladders::render
