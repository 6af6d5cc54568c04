// Circles from files: .npy of N x 8 floats, .csv, .json.
//
// CSV    one circle per line; a first line of names orders the columns, otherwise x,y,z,radius,red,green,blue,alpha
// JSON   an array of circles, each an array of eight numbers, or an object with those names
//
// A column that is missing takes its default: z 0, black, alpha 0.5. x, y and radius are required.
#pragma once
#include <string>
#include <vector>

#include "ladders/render/contract.h"

namespace upsweep::ladders::render {

// Throws Error: io_error; bad_file, with the line or circle that is wrong.
std::vector<Circle> read_circles(const std::string& path);

}  // namespace upsweep::ladders::render
