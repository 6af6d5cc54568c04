#include "ladders/render/lab/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "cpu/parallel.h"
#include "ladders/render/blend.h"
#include "ladders/render/cpu_serial.h"

namespace upsweep::ladders::render {

std::vector<float> expected_image(const float* circles, std::size_t n, const Frame& f) {
  std::vector<float> image(f.pixels() * count_of(f.channels));
  constexpr unsigned rows = 16;  // per band; every band tests every circle, so thinner bands repeat more work
  const unsigned bands = (f.height + rows - 1) / rows;
  parallel(int(bands), 0, [&](int band) {
    const unsigned first = unsigned(band) * rows;
    draw_serially(circles, n, f, first, std::min(first + rows, f.height), image.data());
  });
  return image;
}

Difference difference(const Frame& f, const float* image, const float* expected) {
  Difference d;
  for (std::size_t k = 0; k < f.pixels() * count_of(f.channels); ++k) {
    if (std::bit_cast<std::uint32_t>(image[k]) == std::bit_cast<std::uint32_t>(expected[k])) continue;
    const double error = std::fabs(double(image[k]) - double(expected[k]));
    if (d.differing++ == 0 || !(error <= d.error)) d.error = error, d.at = k;
  }
  return d;
}

double permitted_error(const float* circles, std::size_t n, const Frame& f) {
  if (f.eps == 0) return 0;
  float largest = 0;
  for (unsigned row = 0; row < f.height; ++row) {
    const Colour c = background(f, row);
    largest = std::max({largest, std::fabs(c.red), std::fabs(c.green), std::fabs(c.blue)});
  }
  for (std::size_t k = 0; k < n; ++k) {
    const Circle c = circle_at(circles, k);
    largest = std::max({largest, std::fabs(c.red), std::fabs(c.green), std::fabs(c.blue)});
  }
  return double(f.eps) * largest + 1e-6;
}

std::optional<std::string> find_mistake(const Frame& f, const float* image, const float* expected, double permitted) {
  const Difference d = difference(f, image, expected);
  if (d.differing == 0 || (permitted > 0 && d.error <= permitted)) return std::nullopt;
  const unsigned channels = count_of(f.channels);
  const std::size_t pixel = d.at / channels;
  return fmt::format("{} of {} numbers differ; the most in pixel ({}, {}), {}: {:.9g}, should be {:.9g}{}", d.differing,
                     f.pixels() * channels, pixel % f.width, pixel / f.width,
                     std::array{"red", "green", "blue", "channel 4"}[d.at % channels], image[d.at], expected[d.at],
                     permitted > 0 ? fmt::format(" within {:.3g}", permitted) : "");
}

}  // namespace upsweep::ladders::render
