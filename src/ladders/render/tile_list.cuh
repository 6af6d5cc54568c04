// Compacts each batch of 256 circles to those that reach a tile, in order.
#pragma once
#include "ladders/render/tile.cuh"

namespace upsweep::ladders::render {

struct TileList {
  static constexpr unsigned warps = tile_threads / warp_size;
  static constexpr std::size_t shared_bytes = tile_threads * sizeof(Circle) + warps * sizeof(unsigned);
  Circle* circles;  // [tile_threads], shared

  // Lists the circles in [begin, min(begin + 256, end)) that reach the tile, and returns their number. Called by all
  // threads of the block; waits until all have drawn the previous list.
  __device__ unsigned fill(const float* all,  // [end][8]
                           std::size_t begin, std::size_t end, const TileBounds& bounds) const {
    unsigned* const totals = reinterpret_cast<unsigned*>(circles + tile_threads);  // [warps], shared
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const std::size_t k = begin + threadIdx.x;
    Circle c{};
    if (k < end) c = load_circle(all, k);
    const unsigned ballot = __ballot_sync(all_lanes, k < end && bounds.reached_by(c));
    if (lane == 0) totals[warp] = unsigned(__popc(ballot));
    __syncthreads();  // all threads have drawn the previous list
    unsigned at = unsigned(__popc(ballot & ((1u << lane) - 1))), count = 0;
    for (unsigned w = 0; w < warps; ++w) {
      at += w < warp ? totals[w] : 0;
      count += totals[w];
    }
    if (ballot >> lane & 1) circles[at] = c;
    __syncthreads();
    return count;
  }
};

// Draws a tile: for every 256 circles, the first of which has index `begin`, calls draw(colour, circles, count, begin,
// pixel) with the list of those that reach the tile.
template <class Draw>
__device__ __forceinline__ void draw_tile(const float* circles,  // [n][8]
                                          std::size_t n, const TileList& list,
                                          float* image,  // [height][width][channels]
                                          const Frame& f, Draw&& draw) {
  const TileBounds bounds(f);
  const TilePixel pixel(f);
  Colour colour = background(f, pixel.j);
  for (std::size_t begin = 0; begin < n; begin += tile_threads) {
    const unsigned count = list.fill(circles, begin, n, bounds);
    draw(colour, list.circles, count, begin, pixel);
  }
  pixel.put(image, f, colour);
}

// Launches a kernel that draws TileLists, one block per tile.
inline Status launch_tiles(void (*kernel)(const float*, std::size_t, float*, Frame), const Args& a) {
  return launch(
      kernel,
      {.grid = tile_grid(a.frame), .block = tile_threads, .shared_bytes = TileList::shared_bytes, .stream = a.stream},
      a.circles, a.n, a.image, a.frame);
}

// The kernel of tile_ballot, and the fallback for images whose bins do not fit in scratch memory (windows.cuh). One
// block per tile tests all circles; no scratch memory is needed.
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
