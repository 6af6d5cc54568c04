// A block's tile of 32 x 32 pixels. Each warp has a patch of the tile: 8 x 8 pixels at two pixels per lane, or 16 x 8
// at four.
#pragma once
#include "ladders/render/tile.cuh"

namespace upsweep::ladders::render {

inline constexpr unsigned patch_tile = 32;  // pixels per side of a tile
template <unsigned per_lane>
inline constexpr unsigned patch_threads = patch_tile*(patch_tile / per_lane);
template <unsigned per_lane>
inline constexpr unsigned patch_warps = patch_threads<per_lane> / warp_size;

// A block's tile, identified by its first pixel.
struct Tile {
  unsigned i, j;
  __device__ Tile(unsigned column, unsigned row) : i(column * patch_tile), j(row * patch_tile) {}
};

// Returns the grid with one block per tile.
inline dim3 patch_tile_grid(const Frame& f) {
  return {unsigned(ceil_div(f.width, patch_tile)), unsigned(ceil_div(f.height, patch_tile)), 1};
}

// The centres of the tile's pixel columns and rows, in groups of eight, including those past the image's edges.
struct Centres {
  struct alignas(16) Eight {
    float at[8];
  } x[4], y[4];
  // Called by all threads of the block. The caller puts a barrier between fill() and the first read.
  __device__ void fill(const Frame& f, Tile tile) {
    if (threadIdx.x < patch_tile) {
      x[threadIdx.x / 8].at[threadIdx.x % 8] = centre_x(f, tile.i + threadIdx.x);
      y[threadIdx.x / 8].at[threadIdx.x % 8] = centre_y(f, tile.j + threadIdx.x);
    }
  }
  // Returns false only if the circle covers no pixel of the tile.
  __device__ bool reached_by(float cx, float cy, float radius2) const {
    return reaches(cx, cy, radius2, x[0].at[0], y[0].at[0], x[3].at[7], y[3].at[7]);
  }
};

// A warp's patch, with its pixel centres in shared memory.
template <unsigned per_lane>
class Patch {
 public:
  static constexpr unsigned wide = per_lane / 2, across = 4 / wide;  // groups of 8 per patch; patches per tile row
  const Centres::Eight* const x;                                     // [wide]
  const Centres::Eight& y;
  __device__ explicit Patch(const Centres& tile)
      : x(tile.x + threadIdx.x / warp_size % across * wide), y(tile.y[threadIdx.x / warp_size / across]) {}

  // A circle's coverage of the warp's patch: `any` pixel, `all` pixels. As in reaches(), the tests of the nearest and
  // the farthest point are exact.
  struct Reach {
    bool any, all;
  };
  struct Bounds {
    float left, right, top, bottom;
    __device__ __forceinline__ Reach reached_by(const Disc& c) const {
      const float dx0 = left - c.x, dx1 = c.x - right, dy0 = top - c.y, dy1 = c.y - bottom;
      const float near2 = add(square(max(max(dx0, dx1), 0.f)), square(max(max(dy0, dy1), 0.f)));
      const float far2 = add(square(max(fabsf(dx0), fabsf(dx1))), square(max(fabsf(dy0), fabsf(dy1))));
      return {near2 <= c.radius2, far2 <= c.radius2};
    }
  };
  __device__ Bounds bounds() const { return {x[0].at[0], x[wide - 1].at[7], y.at[0], y.at[7]}; }

  // For each of the lane's pixels, whether a circle covers it.
  struct Covered {
    bool of[per_lane];
  };
  struct Pixels {
    float x[wide], y[2];
    __device__ __forceinline__ Covered covered_by(const Disc& c) const {
      const float dy2[2] = {square(y[0] - c.y), square(y[1] - c.y)};
      Covered covered;
      for (unsigned k = 0; k < per_lane; ++k) covered.of[k] = add(square(x[k / 2] - c.x), dy2[k % 2]) <= c.radius2;
      return covered;
    }
  };
  __device__ Pixels pixels() const {
    const unsigned lane = threadIdx.x % warp_size;
    Pixels p;
    for (unsigned h = 0; h < wide; ++h) p.x[h] = x[h].at[lane % 8];
    p.y[0] = y.at[lane / 8], p.y[1] = y.at[lane / 8 + 4];
    return p;
  }
};

// The lane's pixels in the image: pixel 0 is (i, j), pixel 1 four rows below; pixels 2 and 3 are eight columns to the
// right of these.
template <unsigned per_lane>
struct LanePixels {
  unsigned i, j;
  bool inside[per_lane];
  __device__ LanePixels(const Frame& f, Tile tile) {
    constexpr unsigned wide = Patch<per_lane>::wide, across = Patch<per_lane>::across;
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    i = tile.i + warp % across * wide * 8 + lane % 8, j = tile.j + warp / across * 8 + lane / 8;
    for (unsigned k = 0; k < per_lane; ++k) inside[k] = i + k / 2 * 8 < f.width && j + k % 2 * 4 < f.height;
  }
  __device__ void store(float* image, const Frame& f, const Colour (&colour)[per_lane]) const {
    const std::size_t first = f.pixel(i, j);
    for (unsigned k = 0; k < per_lane; ++k)
      if (inside[k]) store_pixel(image, f, first + k / 2 * 8 + (k % 2 ? 4 * std::size_t{f.pitch} : 0), colour[k]);
  }
};

// Transposes a 32 x 32 bit matrix: bit j of lane i becomes bit i of lane j.
__device__ __forceinline__ unsigned transposed(unsigned bits) {
  const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
  for (unsigned d = warp_size / 2; d > 0; d /= 2) {
    const unsigned low = all_lanes / ((1u << d) + 1);  // the low d of every 2 d bits
    const unsigned stays = lane & d ? ~low : low;
    const unsigned other = __shfl_xor_sync(all_lanes, bits, int(d));
    const unsigned rotated = __funnelshift_l(other, other, lane & d ? warp_size - d : d);
    bits = rotated ^ ((rotated ^ bits) & stays);
  }
  return bits;
}

// Warp-wide: tests 32 circles, one per lane, and sets bit l of bits[k] if lane l's circle covers this lane's pixel k.
// Each lane tests its circle against all pixels of the patch, which share eight or sixteen values of dx^2 and eight of
// dy^2, so that a test is one addition and one comparison; then the bits are transposed. A circle with a negative
// radius2 covers no pixel.
template <unsigned per_lane>
__device__ __forceinline__ void find_covered(unsigned (&bits)[per_lane],
                                             const Centres::Eight* patch_x,  // [per_lane / 2]
                                             const Centres::Eight& patch_y, float cx, float cy, float radius2) {
  const Centres::Eight y = patch_y;
  float dy2[8];
#pragma unroll
  for (unsigned j = 0; j < 8; ++j) dy2[j] = square(y.at[j] - cy);
#pragma unroll
  for (unsigned h = 0; h < per_lane / 2; ++h) {
    const Centres::Eight x = patch_x[h];
    bits[2 * h] = bits[2 * h + 1] = 0;
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
      const float dx2 = square(x.at[i] - cx);
#pragma unroll
      for (unsigned j = 0; j < 8; ++j)
        if (add(dx2, dy2[j]) <= radius2) bits[2 * h + j / 4] |= 1u << (j % 4 * 8 + i);
    }
  }
  for (unsigned& word : bits) word = transposed(word);
}

}  // namespace upsweep::ladders::render
