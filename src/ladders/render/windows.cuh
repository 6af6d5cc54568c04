// Draws large images window by window, so that bins stay small, lists stay short, and per-bin data fits in shared
// memory. Every window reads all circles.
#pragma once
#include "ladders/render/bin_grid.cuh"
#include "ladders/render/tile_list.cuh"

namespace upsweep::ladders::render {

// Calls draw(window, memory) for each window of the image, the largest first; `memory` is the layout's scratch memory.
// A window has at most layout.bins bins: 4096 bins of 32 x 32 pixels make 2048 x 2048 pixels, unless the image is
// narrow. If not even one bin fits, every tile tests all circles.
template <class Layout, class Draw>
Status each_window(const Args& a, const Layout& layout, Draw&& draw) {
  if (layout.bins == 0) return draw_by_tiles(a);
  Scratch scratch(*a.workspace, a.scratch_bytes);
  char* const memory = scratch.take<char>(layout.bytes);
  if (!scratch) return {Code::out_of_memory, 0, "no memory for the bins"};
  const BinGrid grid(a.frame, Layout::bin_shift);
  std::size_t wide = grid.columns;
  if (grid.count() > layout.bins)
    while (wide > layout.bins / wide) wide = ceil_div(wide, 2);
  const unsigned width = unsigned(wide) * grid.side(), height = unsigned(layout.bins / wide) * grid.side();
  for (unsigned top = 0; top < a.frame.height; top += height)
    for (unsigned left = 0; left < a.frame.width; left += width) {
      Args window = a;
      window.frame.left = left, window.frame.width = std::min(width, a.frame.width - left);
      window.frame.top = top, window.frame.height = std::min(height, a.frame.height - top);
      if (auto s = draw(window, memory); !s) return s;
    }
  return {};
}

}  // namespace upsweep::ladders::render
