// Wrong on purpose: last_first without the proof, and one circle early. A pixel drops the circle that takes its
// transmittance to 2^-24 or below, half a unit in the last place of a colour of 1.
//
// Must be caught: wrong last bits of pixels under more than 24 circles. Without such pixels the image is right.
#pragma once
#include "ladders/render/tile_list.cuh"

namespace upsweep::ladders::render {

__global__ void __launch_bounds__(tile_threads) stops_early_kernel(const float* circles,  // [n][8]
                                                                   std::size_t n,
                                                                   float* image,  // [height][width][channels]
                                                                   Frame f) {
  TileList list(dynamic_shared<Circle>());
  const TileBounds bounds(f);
  const TilePixel pixel(f);

  // 1. Backwards: find the first circle that the pixel needs.
  std::size_t needed = 0;
  float through = 1;
  for (std::size_t end = n; end > 0;) {
    const std::size_t begin = (end - 1) / tile_threads * tile_threads;
    const unsigned count = list.fill(circles, begin, end, bounds);
    for (unsigned e = count; e-- > 0;) {
      const Circle& c = list.circles[e];
      const float d2 = distance2(pixel.x, pixel.y, c.x, c.y);
      if (!(d2 <= square(c.radius))) continue;
      const float before = through;
      through = mul(through, f.shading == Shading::snow ? snow_paint(c, d2).through : 1 - c.alpha);
      if (before > 0x1p-24f && through <= 0x1p-24f) needed = begin + e + 1;
    }
    end = begin;
  }

  // 2. Forwards from there.
  draw_tile(circles, n, list, image, f,
            [&](Colour& colour, const Circle* listed, unsigned count, std::size_t begin, const TilePixel&) {
              for (unsigned e = 0; e < count; ++e)
                if (begin + e >= needed) draw_over(colour, f, listed[e], pixel.x, pixel.y);
            });
}

struct stops_early {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "early termination one circle early, uncertified",
                               .prediction = "wrong last bits under more than 24 circles"};
  template <class, class>
  static Status run(const Args& a) {
    return launch_tiles(stops_early_kernel, a);
  }
};

}  // namespace upsweep::ladders::render
