// Colours as text: #fff, #8000ff, or a common CSS name.
#pragma once
#include <array>
#include <optional>
#include <string_view>

namespace upsweep::ladders::render {

using Rgb = std::array<float, 3>;  // red, green, blue; 0 to 1

inline constexpr const char* colour_hint = "write #rgb, #rrggbb, or black, white, red, ...";

// Returns nullopt if the text is not a colour. Names are case-insensitive.
std::optional<Rgb> parse_colour(std::string_view text);

// Returns whether the colour is outside [0, 1] by more than rounding to 8 bits hides, so that 8-bit pictures cannot
// show it.
constexpr bool outside_of_bytes(double colour) {
  constexpr double rounding = 0.5 / 255;
  return !(colour >= -rounding && colour <= 1 + rounding);
}

}  // namespace upsweep::ladders::render
