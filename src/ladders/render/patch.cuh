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
  // Bits, for each pixel of the block: which of the circles a warp keeps cover it; or which of 512 small circles.
  unsigned covered[patch_threads / warp_size][2][patch_threads];
  alignas(16) unsigned short kept[patch_warps][patch_kept + warp_size];  // entries that reach a warp
  unsigned totals[patch_warps];
};

// The circles that a tile may show, in order: its bin's list; or all circles, of which those that reach it are taken.
struct TileCircles {
  const float* all;
  const unsigned* indices;  // null: all circles
  std::size_t count;
  __device__ TileCircles(const float* circles, const unsigned* listed, std::size_t n)
      : all(circles), indices(listed), count(n) {
    if (indices && threadIdx.x < count) index_ = indices[threadIdx.x];
    fetch(0);
  }

  // Fetches the next 512 after these while they are drawn.
  // Stages those of circles [first, first + 512) and returns how many there are. For all threads of the block; ends
  // with a barrier. `small` becomes whether each covers no more than 8 x 8 pixels.
  __device__ unsigned stage(PatchMemory& memory, std::size_t first, const Frame& f, const Patch& patch, bool& small) {
    bool found = first + threadIdx.x < count;
    const Circle c = next_;
    unsigned place = threadIdx.x, staged = unsigned(min(std::size_t{patch_threads}, count - first));
    if (!indices) {
      found = found && reaches(c.x, c.y, square(c.radius), centre_x(f, patch.tile_i), centre_y(f, patch.tile_j),
                               centre_x(f, min(patch.tile_i + patch_tile, f.width) - 1),
                               centre_y(f, min(patch.tile_j + patch_tile, f.height) - 1));
      const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
      const unsigned ballot = __ballot_sync(all_lanes, found);
      if (lane == 0) memory.totals[warp] = unsigned(__popc(ballot));
      __syncthreads();
      place = unsigned(__popc(ballot & ((1u << lane) - 1))), staged = 0;
      for (unsigned w = 0; w < patch_warps; ++w) {
        place += w < warp ? memory.totals[w] : 0;
        staged += memory.totals[w];
      }
    }
    if (found) keep(memory.staged[place], c);
    fetch(first + patch_threads);
    small = __syncthreads_and(!found || c.radius <= 3.5f * min(f.step_x, f.step_y));
    return staged;
  }

 private:
  // Fetches the thread's circle of 512, and its index in the next 512.
  __device__ void fetch(std::size_t first) {
    const std::size_t at = first + threadIdx.x;
    if (at < count) next_ = load_circle(all, indices ? index_ : at);
    if (indices && at + patch_threads < count) index_ = indices[at + patch_threads];
  }
  Circle next_{};
  unsigned index_ = 0;
};

// Blends 512 small circles: each lane of a warp finds the pixels of its circle, and sets its bit in their words; each
// pixel then goes through its bits.
__device__ inline void draw_small(Colour (&colour)[2], PatchMemory& memory, unsigned count, const Frame& f,
                                  const Patch& patch) {
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  if (threadIdx.x < count) {
    const Disc& c = memory.staged[threadIdx.x];
    const Box b = bounds_of(f, c.x, c.y, sqrtf(c.radius2));
    const int left = max(b.left, int(patch.tile_i)), right = min(b.right, int(patch.tile_i + patch_tile));
    const int top = max(b.top, int(patch.tile_j)), bottom = min(b.bottom, int(patch.tile_j + patch_tile));
    for (int j = top; j < bottom; ++j) {
      const float dy2 = square(centre_y(f, unsigned(j)) - c.y);
      const unsigned row = unsigned(j) - patch.tile_j;
      unsigned* const words = memory.covered[warp][row / 4 % 2] + row / 8 * 4 * warp_size + row % 4 * 8;
      for (int i = left; i < right; ++i) {
        const unsigned column = unsigned(i) - patch.tile_i;  // of the block's thread: column + column / 8 * 24
        if (add(square(centre_x(f, unsigned(i)) - c.x), dy2) <= c.radius2)
          atomicOr(&words[column + column / 8 * 24], 1u << lane);
      }
    }
  }
  __syncthreads();
  for (unsigned k = 0; k < 2; ++k) {
    unsigned words = 0, word = 0, left = 0;  // words with bits; the one at hand, and what is left of it
    for (unsigned w = 0; w < patch_warps; ++w) words |= unsigned(memory.covered[w][k][threadIdx.x] != 0) << w;
    while (words | left) {
      if (left == 0) {
        word = unsigned(__ffs(int(words))) - 1, words &= words - 1;
        left = memory.covered[word][k][threadIdx.x];
        memory.covered[word][k][threadIdx.x] = 0;
      }
      const Disc& c = memory.staged[word * warp_size + unsigned(__ffs(int(left))) - 1];
      left &= left - 1;
      blend(colour[k], {c.red, c.green, c.blue, c.through, c.alpha});
    }
  }
}

// Blends staged circles over the patch, in order.
__device__ inline void draw_staged(Colour (&colour)[2], const PatchMemory& memory, unsigned count, const Patch& patch) {
  const unsigned lane = threadIdx.x % warp_size;
  for (unsigned group = 0; group < count; group += warp_size) {
    const bool valid = group + lane < count;
    const auto reach = patch.reached_by(memory.staged[valid ? group + lane : 0], valid);
    for (unsigned left = reach.some; left; left &= left - 1) {
      const Disc c = memory.staged[group + unsigned(__ffs(int(left))) - 1];
      const auto covered = patch.covered_by(c);
      for (unsigned k = 0; k < 2; ++k)
        if (covered.of[k]) blend(colour[k], {c.red, c.green, c.blue, c.through, c.alpha});
    }
  }
}

// Draws all circles of the tile over the background. For all threads of the block.
__device__ inline void draw_all(TileCircles circles, PatchMemory& memory, const Patch& patch, float* image,
                                const Frame& f) {
  Colour colour[2] = {background(f, patch.j[0]), background(f, patch.j[1])};
  bool cleared = false;
  for (std::size_t first = 0; first < circles.count; first += patch_threads) {
    if (first) __syncthreads();
    bool small;
    const unsigned count = circles.stage(memory, first, f, patch, small);
    if (!small) {
      draw_staged(colour, memory, count, patch);
      continue;
    }
    if (!cleared) {
      for (auto& words : memory.covered)
        for (unsigned k = 0; k < 2; ++k) words[k][threadIdx.x] = 0;
      cleared = true;
      __syncthreads();
    }
    draw_small(colour, memory, count, f, patch);
  }
  patch.store(image, f, colour);
}

}  // namespace upsweep::ladders::render
