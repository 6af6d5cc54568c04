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
  unsigned tile_i, tile_j, i, j[2];  // tile_i, tile_j: the tile's first pixel
  bool inside[2];
  float x, y[2], left, top, right, bottom;
  __device__ Patch(const Frame& f, unsigned tile_column, unsigned tile_row)
      : tile_i(tile_column * patch_tile), tile_j(tile_row * patch_tile) {
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
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
  // Whether a circle reaches the warp's pixels, and whether it covers them all. As with `reaches`, the nearest and the
  // farthest pixel decide exactly.
  struct Reach {
    bool some, all;
  };
  __device__ __forceinline__ Reach reached_by(const Disc& c) const {
    const float dx0 = left - c.x, dx1 = c.x - right, dy0 = top - c.y, dy1 = c.y - bottom;
    const float near2 = add(square(max(max(dx0, dx1), 0.f)), square(max(max(dy0, dy1), 0.f)));
    const float far2 = add(square(max(fabsf(dx0), fabsf(dx1))), square(max(fabsf(dy0), fabsf(dy1))));
    return {near2 <= c.radius2, far2 <= c.radius2};
  }
  __device__ void store(float* image, const Frame& f, const Colour (&colour)[2]) const {
    for (unsigned k = 0; k < 2; ++k)
      if (inside[k]) store_pixel(image, f, f.pixel(i, j[k]), colour[k]);
  }
};

// The centres of the tile's columns and rows of pixels, by patches.
struct Centres {
  struct alignas(16) Eight {
    float at[8];
  } x[4], y[4];
  // For all threads of the block, and a barrier is to follow.
  __device__ void fill(const Frame& f, const Patch& patch) {
    if (threadIdx.x < patch_tile) {
      x[threadIdx.x / 8].at[threadIdx.x % 8] = centre_x(f, patch.tile_i + threadIdx.x);
      y[threadIdx.x / 8].at[threadIdx.x % 8] = centre_y(f, patch.tile_j + threadIdx.x);
    }
  }
};

// Bit j of lane i becomes bit i of lane j.
__device__ __forceinline__ unsigned transposed(unsigned bits) {
  const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
  for (unsigned d = warp_size / 2; d > 0; d /= 2) {
    const unsigned low = all_lanes / ((1u << d) + 1);  // d of every 2 d bits
    const unsigned kept = lane & d ? ~low : low;
    const unsigned other = __shfl_xor_sync(all_lanes, bits, int(d));
    const unsigned moved = __funnelshift_l(other, other, lane & d ? warp_size - d : d);
    bits = moved ^ ((moved ^ bits) & kept);
  }
  return bits;
}

// Of 32 circles, one per lane: bit l of bits[k] becomes whether that of lane l covers this lane's pixel k. Each lane
// tests its own circle against the patch's 64 pixels, whose dx^2 and dy^2 are eight each, so that a test is a sum and a
// comparison; then the bits are transposed. A negative radius2 covers nothing.
__device__ __forceinline__ void find_covered(unsigned (&bits)[2], const Centres& centres, float cx, float cy,
                                             float radius2) {
  const unsigned warp = threadIdx.x / warp_size;
  const Centres::Eight x = centres.x[warp % 4], y = centres.y[warp / 4];
  float dx2[8];
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) dx2[i] = square(x.at[i] - cx);
  bits[0] = bits[1] = 0;
#pragma unroll
  for (unsigned j = 0; j < 8; ++j) {
    const float dy2 = square(y.at[j] - cy);
#pragma unroll
    for (unsigned i = 0; i < 8; ++i)
      if (add(dx2[i], dy2) <= radius2) bits[j / 4] |= 1u << (j % 4 * 8 + i);
  }
  for (unsigned& word : bits) word = transposed(word);
}

struct PatchMemory {
  Centres centres;
  Disc staged[patch_staged];
  // Bits, for each pixel of the block: which of the circles that its warp keeps cover it.
  unsigned covered[patch_kept / warp_size][2][patch_threads];
  alignas(16) unsigned short kept[patch_warps][patch_kept + warp_size];  // entries that reach a warp
  unsigned last[patch_staged];                                           // of the circles in a column of bits
  unsigned warp_totals[warp_size];
};

}  // namespace upsweep::ladders::render
