// The rectangle that a picture shows, and how circles get into it: a corner and a scale are taken from them in f64,
// before they are rounded to the renderer's f32. So a view may be small beside its distance from 0.
#pragma once
#include <cstdint>
#include <string_view>

#include "ladders/render/contract.h"
#include "ladders/render/lab/circle_file.h"

namespace upsweep::ladders::render {

// The fit of a view into a picture of another shape.
enum class Aspect : std::uint8_t {
  fit,      // more is shown: the view is widened around its centre
  fill,     // less is shown: it is narrowed
  stretch,  // it is shown as it is: circles become ellipses
};

struct Viewport {
  double x0 = 0, y0 = 0, x1 = 1, y1 = 1;

  // Returns the view that the picture shows. Its pixels are squares, unless stretched.
  Viewport shaped(Aspect aspect, unsigned width, unsigned height) const;
  // Throws Error(invalid_argument) if it is empty, reversed or not finite, or if f64 does not tell its pixels apart;
  // `coordinates` as in messages: "--view 0,0,1,1".
  void require_pixels(unsigned width, unsigned height, std::string_view coordinates) const;
  // The distance between neighbouring numbers of the type where the view is.
  template <class T>
  double spacing() const;
};

// Takes circles from the view's coordinates to those that a picture is drawn in: from its corner, and scaled by a power
// of two, so that its longer side is in (1/2, 1]. A view (0, 0) to (1, 1) changes nothing.
class Placement {
 public:
  explicit Placement(const Viewport& view);
  Circle operator()(const WideCircle& circle) const;
  // The rectangle that the picture shows in these coordinates.
  Viewport shown() const { return {0, 0, (view_.x1 - view_.x0) * scale_, (view_.y1 - view_.y0) * scale_}; }

 private:
  Viewport view_;
  double scale_;
};

// A circle of this radius, in pixels, covers the pixel whose centre is nearest to its own: half of a pixel's diagonal
// is 0.7072, and the rounding of coordinates, in the largest pictures, 0.008.
inline constexpr double least_visible_radius = 0.72;
// The radius of so many pixels of a picture that shows the rectangle.
double radius_of_pixels(double pixels, const Viewport& shown, unsigned width, unsigned height);

}  // namespace upsweep::ladders::render
