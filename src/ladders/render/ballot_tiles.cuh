// What tile_ballot does, for it and for pictures whose bins find no room (windows.cuh): a block per tile goes through
// all circles, without scratch memory.
#pragma once
#include "ladders/render/tile_list.cuh"

namespace upsweep::ladders::render {

static __global__ void __launch_bounds__(tile_threads) tile_ballot_kernel(const float* circles,  // [n][8]
                                                                   std::size_t n,
                                                                   float* image,  // [height][width][channels]
                                                                   Frame f) {
  draw_tile(circles, n, TileList(dynamic_shared<Circle>()), image, f,
            [&](Colour& colour, const Circle* list, unsigned count, std::size_t, const TilePixel& pixel) {
              for (unsigned e = 0; e < count; ++e) draw_over(colour, f, list[e], pixel.x, pixel.y);
            });
}

inline Status draw_by_tiles(const Args& a) { return launch_tiles(tile_ballot_kernel, a); }

}  // namespace upsweep::ladders::render
