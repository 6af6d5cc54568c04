// Readers of circles from CSV or JSON text without a byte order mark. circle_file.h describes the formats.
#pragma once
#include <string_view>

#include "ladders/render/lab/circle_file.h"

namespace upsweep::ladders::render {

// Calls take(circle) for each circle and appends skipped names to file.skipped. Throws Error(bad_file).
void read_csv(std::string_view text, ColourRange colours, const TakeCircle& take, CircleFile& file);
void read_json(std::string_view text, ColourRange colours, const TakeCircle& take, CircleFile& file);

}  // namespace upsweep::ladders::render
