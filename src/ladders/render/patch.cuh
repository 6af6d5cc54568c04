// What a block of 512 threads draws: 32 x 32 pixels, of which each warp has 8 x 8, two of them in each lane.
#pragma once
#include "ladders/render/bins.cuh"
#include "ladders/render/disc.cuh"

namespace upsweep::ladders::render {

inline constexpr unsigned patch_threads = 512, patch_warps = patch_threads / warp_size;
inline constexpr unsigned patch_tile = 32;      // pixels of the block's side
inline constexpr unsigned patch_staged = 1024;  // circles in shared memory
inline constexpr unsigned patch_kept = 480;     // of them, that a warp keeps at most

// A warp's pixels: a lane has (i, j[0]) and (i, j[1]), which is four rows below.
struct Patch {
  unsigned tile_i, tile_j, i, j[2];
  bool inside[2];
  float x, y[2], left, top, right, bottom;
  __device__ Patch(const Frame& f, unsigned tile) {
    const unsigned columns = (f.width + patch_tile - 1) / patch_tile, lane = threadIdx.x % warp_size;
    tile_i = tile % columns * patch_tile, tile_j = tile / columns * patch_tile;
    const unsigned warp = threadIdx.x / warp_size;
    const unsigned first_i = tile_i + warp % 4 * 8, first_j = tile_j + warp / 4 * 8;
    i = first_i + lane % 8;
    x = centre_x(f, min(i, f.width - 1));
    for (unsigned k = 0; k < 2; ++k) {
      j[k] = first_j + lane / 8 + 4 * k;
      inside[k] = i < f.width && j[k] < f.height;
      j[k] = min(j[k], f.height - 1);
      y[k] = centre_y(f, j[k]);
    }
    left = centre_x(f, min(first_i, f.width - 1)), right = centre_x(f, min(first_i + 7, f.width - 1));
    top = centre_y(f, min(first_j, f.height - 1)), bottom = centre_y(f, min(first_j + 7, f.height - 1));
  }
  // Whether the circle covers the lane's pixels.
  struct Covered {
    bool of[2];
  };
  __device__ __forceinline__ Covered covered_by(const Disc& c) const {
    const float dx2 = square(x - c.x);
    return {{add(dx2, square(y[0] - c.y)) <= c.radius2, add(dx2, square(y[1] - c.y)) <= c.radius2}};
  }
  // Of 32 circles, one per lane: which reach the warp's pixels, and which of those cover them all. As with `reaches`,
  // the farthest pixel decides exactly.
  struct Reach {
    unsigned some, all;
  };
  __device__ __forceinline__ Reach reached_by(const Disc& c, bool valid) const {
    const bool some = valid && reaches(c.x, c.y, c.radius2, left, top, right, bottom);
    const float dx = max(fabsf(left - c.x), fabsf(right - c.x)), dy = max(fabsf(top - c.y), fabsf(bottom - c.y));
    const bool all = some && add(square(dx), square(dy)) <= c.radius2;
    return {__ballot_sync(all_lanes, some), __ballot_sync(all_lanes, all)};
  }
  __device__ void store(float* image, const Frame& f, const Colour (&colour)[2]) const {
    for (unsigned k = 0; k < 2; ++k)
      if (inside[k]) store_pixel(image, f, std::size_t(j[k]) * f.width + i, colour[k]);
  }
};

struct PatchMemory {
  Disc staged[patch_staged];
  // Bits, for each pixel of the block: which of the circles that its warp keeps cover it.
  unsigned covered[patch_threads / warp_size][2][patch_threads];
  alignas(16) unsigned short kept[patch_warps][patch_kept + warp_size];  // entries that reach a warp
};

}  // namespace upsweep::ladders::render
