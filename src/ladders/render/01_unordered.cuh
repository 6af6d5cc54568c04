// render/unordered: wrong on purpose: one thread per circle, each blending its pixels into the image.
//
// Parallel over circles, as the serial renderer's loop suggests. If two circles share a pixel, their threads read,
// blend and write it concurrently: some blends are lost, and the others happen in any order. Atomic updates would lose
// no blend, but the colour would still depend on their order.
//
// Must be caught: a race, or wrong colours wherever circles overlap.
#pragma once
#include "ladders/render/tile.cuh"

namespace upsweep::ladders::render {

__global__ void clear_kernel(float* image,  // [height][width][channels]
                             Frame f) {
  const std::size_t pixel = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (pixel < f.pixels()) put(image, f, pixel, background(f, unsigned(pixel / f.width)));
}

__global__ void unordered_kernel(const float* circles,  // [n][8]
                                 std::size_t n,
                                 float* image,  // [height][width][channels]
                                 Frame f) {
  const std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= n) return;
  const Circle c = circle_at(circles, k);
  const Box b = Axes(f).bounds(c.x, c.y, c.radius);
  for (int j = b.top; j < b.bottom; ++j)
    for (int i = b.left; i < b.right; ++i) {
      const std::size_t pixel = std::size_t(j) * f.width + unsigned(i);
      const float* const at = image + pixel * count_of(f.channels);
      Colour colour{at[0], at[1], at[2], f.channels == Channels::rgbw ? at[3] : 1};
      if (draw_over(colour, f, c, centre_x(f, unsigned(i)), centre_y(f, unsigned(j)))) put(image, f, pixel, colour);
    }
}

struct unordered {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "one thread per circle, blending into the image",
                               .prediction = "a race wherever circles of different threads overlap",
                               .limits = "any n",
                               .source = "the serial loop, made parallel"};
  template <class, class>
  static Status run(const Args& a) {
    const unsigned block = a.tuning.block_or(256);
    const auto blocks = [&](std::size_t threads) { return unsigned(ceil_div(threads, block)); };
    if (auto s = launch(clear_kernel, {.grid = blocks(a.frame.pixels()), .block = block, .stream = a.stream}, a.image,
                        a.frame);
        !s)
      return s;
    if (a.n == 0) return {};
    return launch(unordered_kernel, {.grid = blocks(a.n), .block = block, .stream = a.stream}, a.circles, a.n, a.image,
                  a.frame);
  }
};

}  // namespace upsweep::ladders::render
