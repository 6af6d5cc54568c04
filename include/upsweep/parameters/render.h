// The scalars of upsweep/render.h.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "upsweep/parameter.h"

namespace upsweep {

// The channels of a pixel. rgba: the colour and 1; rgbw: the colour and the coverage, which is 1 + the sum of the
// alphas of the circles that cover the pixel; rgb: the colour.
enum class Channels : std::uint8_t { rgba, rgbw, rgb };
inline constexpr std::array<std::string_view, 3> channels_names{"rgba", "rgbw", "rgb"};
constexpr std::string_view to_string(Channels c) { return channels_names[static_cast<std::size_t>(c)]; }
constexpr unsigned count_of(Channels c) { return c == Channels::rgb ? 3 : 4; }

// The shading of a circle: uniform, or as a snowflake, whose alpha and colour change towards its rim.
enum class Shading : std::uint8_t { flat, snow };
inline constexpr std::array<std::string_view, 2> shading_names{"flat", "snow"};
constexpr std::string_view to_string(Shading s) { return shading_names[static_cast<std::size_t>(s)]; }

// The image: its size, the rectangle that it shows, and the background colour. The rectangle is stretched to the image:
// circles are round only if (x1 - x0) / width equals (y1 - y0) / height. All values are rounded to f32: if a small
// rectangle is far from the origin, subtract one of its corners from the rectangle and the circles first.
struct Picture {
  static constexpr unsigned most_pixels = 65536;  // per side
  static constexpr double most = 0x1p60;          // of a coordinate or a colour: their squares cannot overflow f32
  unsigned width = 1024, height = 1024;           // pixels
  double x0 = 0, y0 = 0, x1 = 1, y1 = 1;          // row 0 is at y0
  double red = 1, green = 1, blue = 1;            // of the background
  Channels channels = Channels::rgba;
  Shading shading = Shading::flat;
  // The permitted error of a colour, relative to the largest colour, plus 1e-6. 0: the same bits on every device as
  // drawing the circles one by one in f32, rounding every operation.
  double eps = 0;
  // The maximum GPU memory that the call takes in addition to its arrays, in bytes; 0: whatever is fastest. With a
  // lower maximum, the image is drawn in more, smaller windows.
  std::uint64_t scratch_bytes = 0;
};

namespace detail {
constexpr Parameter of_picture(std::string_view name, std::string_view meaning) {
  return {.name = name, .meaning = meaning, .least = -Picture::most, .most = Picture::most};
}
constexpr Parameter side_of_picture(std::string_view name) {
  return {.name = name, .meaning = "of the image, in pixels", .least = 1, .most = Picture::most_pixels};
}
}  // namespace detail

inline constexpr ScalarTable render_scalars{
    scalar<&Picture::width>(detail::side_of_picture("width")),
    scalar<&Picture::height>(detail::side_of_picture("height")),
    scalar<&Picture::x0>(detail::of_picture("x0", "left edge of the rectangle shown")),
    scalar<&Picture::y0>(detail::of_picture("y0", "edge at row 0")),
    scalar<&Picture::x1>(detail::of_picture("x1", "right edge")),
    scalar<&Picture::y1>(detail::of_picture("y1", "edge past the last row")),
    scalar<&Picture::red>(detail::of_picture("red", "of the background")),
    scalar<&Picture::green>(detail::of_picture("green", "likewise")),
    scalar<&Picture::blue>(detail::of_picture("blue", "likewise")),
    scalar<&Picture::channels>({.name = "channels",
                                .meaning = "three colours and 1; three colours and the coverage; or three colours",
                                .choices = channels_names}),
    scalar<&Picture::shading>(
        {.name = "shading", .meaning = "of circles: flat, or as snowflakes", .choices = shading_names}),
    scalar<&Picture::eps>({.name = "eps", .meaning = "permitted error / largest colour; 0: none", .most = 1}),
    scalar<&Picture::scratch_bytes>(
        {.name = "scratch_bytes",
         .meaning = "maximum GPU memory beside circles and image, in bytes; 0: whatever is fastest",
         .most = 0x1p53})};

}  // namespace upsweep
