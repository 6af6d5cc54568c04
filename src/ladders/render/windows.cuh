// Large images are drawn window by window, so that bins stay small, their lists short, and what is kept for each bin in
// shared memory. Every window reads all circles.
#pragma once
#include "ladders/render/ballot_tiles.cuh"
#include "ladders/render/room.cuh"

namespace upsweep::ladders::render {

// Calls draw(args) for the windows of the image, of at most so many bins as bins_of_window() says, and the largest
// first. 4096 bins are 2048 x 2048 pixels, of columns 4096 x 4096, unless the image is narrow. Where not one bin finds
// room, every tile goes through all circles.
template <class Draw>
Status each_window(const Args& a, bool columns_of_bits, Draw&& draw) {
  const auto [fit, kind] = bins_of_window(a, columns_of_bits);
  if (fit == 0) return draw_by_tiles(a);
  const BinGrid grid(a.frame, kind);
  std::size_t wide = grid.columns;
  if (grid.count() > fit)
    while (wide > fit / wide) wide = ceil_div(wide, 2);
  const unsigned width = unsigned(wide) * grid.side(), height = unsigned(fit / wide) * grid.side();
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
