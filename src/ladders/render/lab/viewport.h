// The rectangle that a picture shows, and the mapping of circles into it: the corner is subtracted and the scale
// applied in f64, before rounding to the renderer's f32. So a view may be small compared with its distance from 0.
#pragma once
#include <cstdint>
#include <string_view>

#include "ladders/render/contract.h"
#include "ladders/render/lab/circle_file.h"

namespace upsweep::ladders::render {

// Ways to fit a view into a picture of another shape.
enum class Aspect : std::uint8_t {
  fit,      // shows more: widens the view around its centre
  fill,     // shows less: narrows the view
  stretch,  // shows the view unchanged: circles become ellipses
};

struct Viewport {
  double x0 = 0, y0 = 0, x1 = 1, y1 = 1;

  // Returns the view that a picture of width x height pixels shows. Pixels are square, unless `aspect` is stretch.
  Viewport shaped(Aspect aspect, unsigned width, unsigned height) const;
  // Throws Error(invalid_argument) if the view is empty, reversed or not finite, or if f64 cannot tell its pixels
  // apart. `coordinates` names the view in messages: "--view 0,0,1,1".
  void require_pixels(unsigned width, unsigned height, std::string_view coordinates) const;
  // Returns the distance between adjacent numbers of type T at the view's coordinates.
  template <class T>
  double spacing() const;
};

// Maps circles from the view's coordinates to those in which a picture is drawn: relative to the view's corner, and
// scaled by a power of two, so that the view's longer side is in (1/2, 1]. The view (0, 0) to (1, 1) leaves circles
// unchanged.
class Placement {
 public:
  explicit Placement(const Viewport& view);
  Circle operator()(const WideCircle& circle) const;
  // Returns the rectangle that the picture shows, in the mapped coordinates.
  Viewport shown() const { return {0, 0, (view_.x1 - view_.x0) * scale_, (view_.y1 - view_.y0) * scale_}; }

 private:
  Viewport view_;
  double scale_;
};

// A circle of this radius, in pixels, always covers the pixel nearest to its centre: half a pixel's diagonal is 0.7072,
// and in the largest pictures coordinates are rounded by 0.008.
inline constexpr double least_visible_radius = 0.72;
// Converts a radius from pixels to the coordinates of a picture that shows the rectangle `shown`.
double radius_of_pixels(double pixels, const Viewport& shown, unsigned width, unsigned height);

}  // namespace upsweep::ladders::render
