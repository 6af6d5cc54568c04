// Wrong on purpose: the first two circles of every list change places.
//
// Must be caught: colours where these two overlap; nothing else is wrong.
#pragma once
#include "ladders/render/tile_list.cuh"

namespace upsweep::ladders::render {

__global__ void __launch_bounds__(tile_threads) reversed_pair_kernel(const float* circles,  // [n][8]
                                                                     std::size_t n,
                                                                     float* image,  // [height][width][channels]
                                                                     Frame f) {
  TileList list(dynamic_shared<Circle>());
  const TileBounds bounds(f);
  const TilePixel pixel(f);
  Colour colour = background(f, pixel.j);
  for (std::size_t begin = 0; begin < n; begin += tile_threads) {
    const unsigned count = list.fill(circles, begin, n, bounds);
    for (unsigned e = 0; e < count; ++e)
      draw_over(colour, f, list.circles[e < 2 && count > 1 ? 1 - e : e], pixel.x, pixel.y);
  }
  pixel.put(image, f, colour);
}

struct reversed_pair {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "tile_ballot with two circles in the wrong order",
                               .prediction = "wrong colours where the two overlap"};
  template <class, class>
  static Status run(const Args& a) {
    return launch(
        reversed_pair_kernel,
        {.grid = tile_grid(a.frame), .block = tile_threads, .shared_bytes = TileList::shared_bytes, .stream = a.stream},
        a.circles, a.n, a.image, a.frame);
  }
};

}  // namespace upsweep::ladders::render
