// Wrong on purpose: tile_ballot without the barrier between drawing a list and writing the next one.
//
// Must be caught: a race in shared memory, from the second batch of 256 circles on.
#pragma once
#include "ladders/render/tile_list.cuh"

namespace upsweep::ladders::render {

__global__ void __launch_bounds__(tile_threads) missing_barrier_kernel(const float* circles,  // [n][8]
                                                                       std::size_t n,
                                                                       float* image,  // [height][width][channels]
                                                                       Frame f) {
  Circle* const list = dynamic_shared<Circle>();  // [tile_threads]
  __shared__ unsigned totals[2][TileList::warps];
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const TileBounds bounds(f);
  const TilePixel pixel(f);
  Colour colour = background(f, pixel.j);
  unsigned turn = 0;
  for (std::size_t begin = 0; begin < n; begin += tile_threads, turn ^= 1) {
    const std::size_t k = begin + threadIdx.x;
    const unsigned found = __ballot_sync(all_lanes, k < n && bounds.reached_by(circle_at(circles, k)));
    if (lane == 0) totals[turn][warp] = unsigned(__popc(found));
    // This barrier is missing from the second iteration on, when another warp may still be drawing the list.
    if (begin == 0) __syncthreads();
    unsigned at = unsigned(__popc(found & ((1u << lane) - 1))), count = 0;
    for (unsigned w = 0; w < TileList::warps; ++w) {
      at += w < warp ? totals[turn][w] : 0;
      count += totals[turn][w];
    }
    if (found >> lane & 1) list[at] = circle_at(circles, k);
    __syncthreads();
    for (unsigned e = 0; e < count; ++e) draw_over(colour, f, list[e], pixel.x, pixel.y);
  }
  pixel.put(image, f, colour);
}

struct missing_barrier {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "tile_ballot without one of its barriers",
                               .prediction = "a shared race from the second 256 circles on"};
  template <class, class>
  static Status run(const Args& a) {
    return launch_tiles(missing_barrier_kernel, a);
  }
};

}  // namespace upsweep::ladders::render
