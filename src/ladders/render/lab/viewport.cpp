#include "ladders/render/lab/viewport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "upsweep/error.h"

namespace upsweep::ladders::render {

Viewport Viewport::shaped(Aspect aspect, unsigned width, unsigned height) const {
  const double across = (x1 - x0) / width, down = (y1 - y0) / height;  // sides of a pixel
  if (aspect == Aspect::stretch || across == down) return *this;
  const double side = aspect == Aspect::fit ? std::max(across, down) : std::min(across, down);
  // The side that needs no change keeps its exact bounds.
  Viewport shaped = *this;
  if (const double more = side * width - (x1 - x0); across != side) shaped.x0 -= more / 2, shaped.x1 += more / 2;
  if (const double more = side * height - (y1 - y0); down != side) shaped.y0 -= more / 2, shaped.y1 += more / 2;
  return shaped;
}

template <class T>
double Viewport::spacing() const {
  const double largest = std::max({std::fabs(x0), std::fabs(x1), std::fabs(y0), std::fabs(y1)});
  return std::ldexp(std::numeric_limits<T>::epsilon(), std::ilogb(largest));
}
template double Viewport::spacing<float>() const;
template double Viewport::spacing<double>() const;

void Viewport::require_pixels(unsigned width, unsigned height, std::string_view coordinates) const {
  if (!(x0 < x1 && y0 < y1 && std::isfinite(x1 - x0) && std::isfinite(y1 - y0)))
    throw Error(Code::invalid_argument, fmt::format("{}: the view is empty, reversed or not finite", coordinates),
                "x0,y0,x1,y1 with x0 < x1 and y0 < y1");
  const double pixel = std::min((x1 - x0) / width, (y1 - y0) / height);
  constexpr double least = 0x1p-1000;  // so that the scale is finite
  if (pixel < std::max(spacing<double>(), least))
    throw Error(Code::invalid_argument,
                fmt::format("{}: a pixel would be {:.2g} wide, but the numbers of f64 are {:.2g} apart there",
                            coordinates, pixel, spacing<double>()),
                "show more, or move the circles nearer to 0");
}

Placement::Placement(const Viewport& view)
    : view_(view), scale_(std::ldexp(1, -int(std::ceil(std::log2(std::max(view.x1 - view.x0, view.y1 - view.y0)))))) {}

Circle Placement::operator()(const WideCircle& c) const {
  // Clamped: a number beyond f32 is far outside the view either way.
  const auto rounded = [](double value) {
    constexpr double largest = std::numeric_limits<float>::max();
    return static_cast<float>(std::clamp(value, -largest, largest));
  };
  return {rounded((c.x - view_.x0) * scale_),
          rounded((c.y - view_.y0) * scale_),
          c.z,
          rounded(c.radius * scale_),
          c.red,
          c.green,
          c.blue,
          c.alpha};
}

double radius_of_pixels(double pixels, const Viewport& v, unsigned width, unsigned height) {
  return pixels * std::hypot((v.x1 - v.x0) / width, (v.y1 - v.y0) / height) / std::sqrt(2.);
}

}  // namespace upsweep::ladders::render
