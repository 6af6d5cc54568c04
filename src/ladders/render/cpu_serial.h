// The serial renderer, which is also the reference of the checks.
#pragma once
#include "ladders/render/contract.h"

namespace upsweep::ladders::render {

// Draws the background and circles [0, n) into rows [first_row, end_row) of the image.
void draw_serially(const float* circles,  // [n][8]
                   std::size_t n, const Frame& frame, unsigned first_row, unsigned end_row,
                   float* image);  // [height][width][channels]

}  // namespace upsweep::ladders::render
