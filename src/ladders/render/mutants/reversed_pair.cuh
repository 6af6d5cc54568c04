// Wrong on purpose: swaps the first two circles of every list.
//
// Must be caught: wrong colours where these two overlap; all other pixels are right.
#pragma once
#include "ladders/render/tile_list.cuh"

namespace upsweep::ladders::render {

__global__ void __launch_bounds__(tile_threads) reversed_pair_kernel(const float* circles,  // [n][8]
                                                                     std::size_t n,
                                                                     float* image,  // [height][width][channels]
                                                                     Frame f) {
  draw_tile(circles, n, TileList(dynamic_shared<Circle>()), image, f,
            [&](Colour& colour, const Circle* list, unsigned count, std::size_t, const TilePixel& pixel) {
              for (unsigned e = 0; e < count; ++e)
                draw_over(colour, f, list[e < 2 && count > 1 ? 1 - e : e], pixel.x, pixel.y);
            });
}

struct reversed_pair {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "tile_ballot with two circles in the wrong order",
                               .prediction = "wrong colours where the two overlap"};
  template <class, class>
  static Status run(const Args& a) {
    return launch_tiles(reversed_pair_kernel, a);
  }
};

}  // namespace upsweep::ladders::render
