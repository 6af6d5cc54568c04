// Compares an image with the image that the contract defines:
//
// exact   every bit of every channel
// fast    each channel within eps * the largest absolute colour of circles and background, + 1e-6
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ladders/render/contract.h"

namespace upsweep::ladders::render {

// Returns the image that the contract defines, drawn by the serial renderer in bands of rows, in parallel on all cores.
std::vector<float> expected_image(const float* circles,  // [n][8]
                                  std::size_t n, const Frame& frame);

// The largest difference in a channel, and its position.
struct Difference {
  double error = 0;
  std::size_t at = 0;         // element of the image
  std::size_t differing = 0;  // elements whose bits differ
};
Difference difference(const Frame& frame, const float* image, const float* expected);

// Returns eps * the largest absolute colour of the circles and the background, + 1e-6; 0 if eps is 0.
double permitted_error(const float* circles, std::size_t n, const Frame& frame);

// Returns nullopt if the image is right, otherwise one line about its worst element.
std::optional<std::string> find_mistake(const Frame& frame, const float* image, const float* expected,
                                        double permitted);

}  // namespace upsweep::ladders::render
