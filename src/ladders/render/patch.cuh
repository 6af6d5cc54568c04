// What a block of 512 threads draws: 32 x 32 pixels, of which each warp has 8 x 8, two of them in each lane.
#pragma once
#include "ladders/render/disc.cuh"

namespace upsweep::ladders::render {

inline constexpr unsigned patch_threads = 512, patch_warps = patch_threads / warp_size;
inline constexpr unsigned patch_tile = 32;      // pixels of the block's side
inline constexpr unsigned patch_staged = 1024;  // circles in shared memory
inline constexpr unsigned patch_kept = 480;     // of them, that a warp keeps at most

// A block's tile, by its first pixel.
struct Tile {
  unsigned i, j;
  __device__ Tile(unsigned column, unsigned row) : i(column * patch_tile), j(row * patch_tile) {}
};

// The centres of the tile's columns and rows of pixels, by patches; also of those past the image's edges.
struct Centres {
  struct alignas(16) Eight {
    float at[8];
  } x[4], y[4];
  // For all threads of the block, and a barrier is to follow.
  __device__ void fill(const Frame& f, Tile tile) {
    if (threadIdx.x < patch_tile) {
      x[threadIdx.x / 8].at[threadIdx.x % 8] = centre_x(f, tile.i + threadIdx.x);
      y[threadIdx.x / 8].at[threadIdx.x % 8] = centre_y(f, tile.j + threadIdx.x);
    }
  }
  // Whether the circle may cover a pixel of the tile. As in `reaches`, the nearest pixel decides exactly.
  __device__ bool reached_by(const Circle& c) const {
    return add(square(outside(c.x, x[0].at[0], x[3].at[7])), square(outside(c.y, y[0].at[0], y[3].at[7]))) <=
           square(c.radius);
  }
};

// A warp's pixels, by their centres in shared memory. A lane has two, the second four rows below the first.
class Patch {
 public:
  __device__ explicit Patch(const Centres& tile)
      : x_(tile.x[threadIdx.x / warp_size % 4]), y_(tile.y[threadIdx.x / warp_size / 4]) {}

  // Whether a circle reaches the warp's pixels, and whether it covers them all. As in `reaches`, the nearest and the
  // farthest pixel decide exactly.
  struct Reach {
    bool some, all;
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
  __device__ Bounds bounds() const { return {x_.at[0], x_.at[7], y_.at[0], y_.at[7]}; }

  // Whether a circle covers the lane's pixels.
  struct Covered {
    bool of[2];
  };
  struct Pixels {
    float x, y[2];
    __device__ __forceinline__ Covered covered_by(const Disc& c) const {
      const float dx2 = square(x - c.x);
      return {{add(dx2, square(y[0] - c.y)) <= c.radius2, add(dx2, square(y[1] - c.y)) <= c.radius2}};
    }
  };
  __device__ Pixels pixels() const {
    const unsigned lane = threadIdx.x % warp_size;
    return {x_.at[lane % 8], {y_.at[lane / 8], y_.at[lane / 8 + 4]}};
  }

 private:
  const Centres::Eight &x_, &y_;
};

// Where in the image the lane's two pixels are.
struct PixelPair {
  unsigned i, j[2];
  bool inside[2];
  __device__ PixelPair(const Frame& f, Tile tile) {
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    i = tile.i + warp % 4 * 8 + lane % 8;
    for (unsigned k = 0; k < 2; ++k) {
      j[k] = tile.j + warp / 4 * 8 + lane / 8 + 4 * k;
      inside[k] = i < f.width && j[k] < f.height;
    }
  }
  __device__ void store(float* image, const Frame& f, const Colour (&colour)[2]) const {
    for (unsigned k = 0; k < 2; ++k)
      if (inside[k]) store_pixel(image, f, f.pixel(i, j[k]), colour[k]);
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
  unsigned found[patch_threads];                                         // circles of a column
  unsigned warp_totals[warp_size];
};

}  // namespace upsweep::ladders::render
