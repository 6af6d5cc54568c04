// Large images are drawn window by window, so that bins stay small, their lists short, and what is kept for each bin in
// shared memory. Every window reads all circles.
#pragma once
#include "ladders/render/bin_grid.cuh"

namespace upsweep::ladders::render {

// Of 32 x 32 pixels: a window of 2048 x 2048, unless the image is narrow. On the emulator 5 x 6 of them, for the
// checks.
inline constexpr unsigned window_side = 32, window_bins = emulated ? 32 : BinGrid::most;

// Calls draw(args) for the windows of the image, the largest first.
template <class Draw>
Status each_window(const Args& a, Draw&& draw) {
  const std::size_t columns = ceil_div(a.frame.width, window_side), rows = ceil_div(a.frame.height, window_side);
  std::size_t wide = columns;
  if (columns * rows > window_bins)
    while (wide > window_bins / wide) wide = ceil_div(wide, 2);
  const unsigned width = unsigned(wide) * window_side, height = unsigned(window_bins / wide) * window_side;
  for (unsigned top = 0; top < a.frame.height; top += height)
    for (unsigned left = 0; left < a.frame.width; left += width) {
      Args window = a;
      window.frame.left = left, window.frame.width = std::min(width, a.frame.width - left);
      window.frame.top = top, window.frame.height = std::min(height, a.frame.height - top);
      if (auto s = draw(window); !s) return s;
    }
  return {};
}

}  // namespace upsweep::ladders::render
