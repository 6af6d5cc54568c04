// render/pixel: one thread per pixel, which loops over all circles in order.
//
// No two threads write the same pixel, so no blend is lost, and each thread blends in order. All threads of a warp read
// the same circle, so one fetch serves the warp. But every pixel tests every circle, and most tests fail: a million
// circles and a million pixels make 10^12 tests.
//
// Traffic   every circle once per warp, mostly from cache; the image once.
// Order     the input's: exact.
// Source    coursework on parallel rendering: its first correct version.
#pragma once
#include "ladders/render/tile.cuh"

namespace upsweep::ladders::render {

__global__ void __launch_bounds__(tile_threads) pixel_kernel(const float* circles,  // [n][8]
                                                             std::size_t n,
                                                             float* image,  // [height][width][channels]
                                                             Frame f) {
  const TilePixel pixel(f);
  Colour colour = background(f, pixel.j);
  for (std::size_t k = 0; k < n; ++k) draw_over(colour, f, circle_at(circles, k), pixel.x, pixel.y);
  pixel.put(image, f, colour);
}

struct pixel {
  static constexpr Story story{.idea = "one thread per pixel, every circle",
                               .prediction = "n x pixels tests, 0.1 ns per 256 tests on an H200",
                               .guarantees = "exact",
                               .limits = "any n; fixed block size",
                               .source = "coursework on parallel rendering"};
  static constexpr bool reproducible_bits = true;
  template <class, class>
  static Status run(const Args& a) {
    return launch(pixel_kernel, {.grid = tile_grid(a.frame), .block = tile_threads, .stream = a.stream}, a.circles, a.n,
                  a.image, a.frame);
  }
};

}  // namespace upsweep::ladders::render
