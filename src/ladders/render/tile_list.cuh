// A tile's circles out of 256, in order.
#pragma once
#include "ladders/render/tile.cuh"

namespace upsweep::ladders::render {

struct TileList {
  static constexpr unsigned warps = tile_threads / warp_size;
  static constexpr std::size_t shared_bytes = tile_threads * sizeof(Circle) + warps * sizeof(unsigned);
  Circle* circles;  // [tile_threads], shared

  // Lists those of circles [begin, begin + 256) before `end` that reach the tile, and returns how many there are. For
  // all threads of the block; all are done with the last list.
  __device__ unsigned fill(const float* all,  // [end][8]
                           std::size_t begin, std::size_t end, const TileBounds& bounds) const {
    unsigned* const totals = reinterpret_cast<unsigned*>(circles + tile_threads);  // [warps], shared
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const std::size_t k = begin + threadIdx.x;
    Circle c{};
    if (k < end) c = load_circle(all, k);
    const unsigned found = __ballot_sync(all_lanes, k < end && bounds.reached_by(c));
    __syncthreads();  // all have drawn the last list
    if (lane == 0) totals[warp] = unsigned(__popc(found));
    __syncthreads();
    unsigned at = unsigned(__popc(found & ((1u << lane) - 1))), count = 0;
    for (unsigned w = 0; w < warps; ++w) {
      at += w < warp ? totals[w] : 0;
      count += totals[w];
    }
    if (found >> lane & 1) circles[at] = c;
    __syncthreads();
    return count;
  }
};

}  // namespace upsweep::ladders::render
