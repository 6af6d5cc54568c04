// render/tile_atomic: wrong on purpose: a block lists the circles that reach its tile, in whatever order its threads
// append them.
//
// Few circles reach a tile of 16 x 16 pixels. Each thread tests its share of the circles against the tile, one test per
// 256 pixels, and appends those that reach the tile to a list in shared memory, at an offset from an atomic counter.
// The threads then draw only the listed circles, but the counter hands out offsets in any order. If the list overflows,
// the threads draw all circles, which is correct again.
//
// Must be caught: wrong colours wherever circles overlap.
#pragma once
#include "ladders/render/tile.cuh"

namespace upsweep::ladders::render {

inline constexpr unsigned atomic_capacity = 2048;  // circles; 8 KiB of shared memory

__global__ void __launch_bounds__(tile_threads) tile_atomic_kernel(const float* circles,  // [n][8]
                                                                   std::size_t n,
                                                                   float* image,  // [height][width][channels]
                                                                   Frame f) {
  unsigned* const list = dynamic_shared<unsigned>();  // [atomic_capacity]
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();

  // 1. List the circles that reach the tile.
  const TileBounds bounds(f);
  for (std::size_t k = threadIdx.x; k < n; k += tile_threads)
    if (bounds.reached_by(circle_at(circles, k))) {
      const unsigned at = atomicAdd(&count, 1u);
      if (at < atomic_capacity) list[at] = unsigned(k);
    }
  __syncthreads();

  // 2. Draw the listed circles, or all circles if the list overflowed.
  const TilePixel pixel(f);
  Colour colour = background(f, pixel.j);
  if (count <= atomic_capacity)
    for (unsigned e = 0; e < count; ++e) draw_over(colour, f, circle_at(circles, list[e]), pixel.x, pixel.y);
  else
    for (std::size_t k = 0; k < n; ++k) draw_over(colour, f, circle_at(circles, k), pixel.x, pixel.y);
  pixel.put(image, f, colour);
}

struct tile_atomic {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "one block per tile lists the circles that reach it, by an atomic counter",
                               .prediction = "wrong colours where circles overlap; 1/20 of pixel's time",
                               .limits = "below 2^32 circles; fixed block size",
                               .source = "coursework on parallel rendering"};
  template <class, class>
  static Status run(const Args& a) {
    return launch(tile_atomic_kernel,
                  {.grid = tile_grid(a.frame),
                   .block = tile_threads,
                   .shared_bytes = atomic_capacity * sizeof(unsigned),
                   .stream = a.stream},
                  a.circles, a.n, a.image, a.frame);
  }
};

}  // namespace upsweep::ladders::render
