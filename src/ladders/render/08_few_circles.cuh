// render/few_circles: up to 2048 circles in one launch; every block selects the circles of its region.
//
// Building lists or bit columns takes extra launches, which cost more than they save for so few circles: on an H200,
// pattern's 1217 circles take 7.1 us in this rung and 34.1 us in binned.
//
// 1. A block tests all circles against its region of 64 x 64 pixels, a consecutive range of circles per warp, and keeps
//    those that reach the region, in order. With a block for each of 1024 tiles of 32 x 32 pixels, there were four
//    times as many tests, in four waves of blocks: pattern took 24.4 us instead of 7.7 us.
// 2. Each warp draws four patches of 8 x 8 pixels, one after another: a ballot finds which of 32 circles reach the
//    patch, and each lane tests and blends those for its two pixels.
//
// Traffic   every circle once per region of 64 x 64 pixels.
// Order     the input's: exact.
// Source    Molnar et al., A Sorting Classification of Parallel Rendering, 1994: regions of the image.
#pragma once
#include "kernel/block.h"
#include "ladders/render/limits.h"
#include "ladders/render/patch.cuh"

namespace upsweep::ladders::render {

// Side of a region: in tiles of 32 x 32 pixels, and in pixels.
inline constexpr unsigned region_tiles = 2, region = region_tiles * patch_tile;

inline constexpr unsigned few_threads = patch_threads<2>;

struct FewMemory {
  static constexpr unsigned rounds = unsigned(ceil_div(few_circles_most, few_threads));  // tests per thread
  Centres centres[region_tiles * region_tiles];
  Disc candidates[rounds * few_threads];
  unsigned warp_totals[warp_size];
};

// Block-wide: lists the circles that reach the rectangle, in order, and returns their number to every thread.
__device__ inline unsigned list_candidates(FewMemory& memory, const float* circles, unsigned n, float left, float top,
                                           float right, float bottom) {
  const unsigned lane = threadIdx.x % warp_size, first = threadIdx.x / warp_size * FewMemory::rounds * warp_size + lane;
  Circle circle[FewMemory::rounds];
  unsigned ballot[FewMemory::rounds], of_warp = 0, total;
#pragma unroll
  for (unsigned r = 0; r < FewMemory::rounds; ++r)
    if (first + r * warp_size < n) circle[r] = load_circle(circles, first + r * warp_size);
#pragma unroll
  for (unsigned r = 0; r < FewMemory::rounds; ++r) {
    const bool reached = first + r * warp_size < n &&
                         reaches(circle[r].x, circle[r].y, square(circle[r].radius), left, top, right, bottom);
    ballot[r] = __ballot_sync(all_lanes, reached);
    of_warp += unsigned(__popc(ballot[r]));
  }
  unsigned offset = scan_warps(of_warp, Sum{}, memory.warp_totals, total);
#pragma unroll
  for (unsigned r = 0; r < FewMemory::rounds; ++r) {
    if (ballot[r] >> lane & 1)
      keep(memory.candidates[offset + unsigned(__popc(ballot[r] & ((1u << lane) - 1)))], circle[r]);
    offset += unsigned(__popc(ballot[r]));
  }
  __syncthreads();
  return total;
}

static __global__ void __launch_bounds__(few_threads, 2) few_kernel(const float* circles,  // [n][8]
                                                                    std::size_t n,
                                                                    float* image,  // [height][width][channels]
                                                                    Frame f) {
  FewMemory& memory = *dynamic_shared<FewMemory>();
  const auto tile_at = [](unsigned t) {
    return Tile(blockIdx.x * region_tiles + t % region_tiles, blockIdx.y * region_tiles + t / region_tiles);
  };
  for (unsigned t = 0; t < region_tiles * region_tiles; ++t) memory.centres[t].fill(f, tile_at(t));
  const unsigned i = blockIdx.x * region, j = blockIdx.y * region;
  const unsigned count =
      list_candidates(memory, circles, unsigned(n), centre_x(f, i), centre_y(f, j),
                      centre_x(f, min(i + region, f.width) - 1), centre_y(f, min(j + region, f.height) - 1));
  for (unsigned t = 0; t < region_tiles * region_tiles; ++t) {
    const Tile tile = tile_at(t);
    if (tile.i >= f.width || tile.j >= f.height) continue;
    const Patch<2> patch(memory.centres[t]);
    const Patch<2>::Bounds bounds = patch.bounds();
    const Patch<2>::Pixels pixels = patch.pixels();
    Colour colour[2] = {flat_background(f), flat_background(f)};
    for (unsigned first = 0; first < count; first += warp_size) {
      const unsigned at = first + threadIdx.x % warp_size;
      unsigned left = __ballot_sync(all_lanes, at < count && bounds.reached_by(memory.candidates[at]).any);
      for (; left; left &= left - 1) {
        const Disc& c = memory.candidates[first + lowest_bit(left)];
        const auto covered = pixels.covered_by(c);
#pragma unroll
        for (unsigned k = 0; k < 2; ++k)
          if (covered.of[k]) blend(colour[k], {c.red, c.green, c.blue, c.through, c.alpha});
      }
    }
    LanePixels<2>(f, tile).store(image, f, colour);
  }
}

struct few_circles {
  static constexpr Needs needs = few_circles_needs;
  static constexpr Story story{.idea = "one launch: a block keeps the circles of 64 x 64 pixels in shared memory",
                               .prediction = "9 us for pattern's 1217 circles: a quarter of the tests of small tiles",
                               .guarantees = "exact",
                               .limits = "flat, no coverage; up to 2048 circles; fixed block size",
                               .source = "Molnar et al. 1994"};
  static constexpr bool reproducible_bits = true;
  static constexpr std::size_t largest_emulated = 300;
  template <class, class>
  static Status run(const Args& a) {
    if (!is_plain(a.frame)) return not_plain;
    if (a.n > few_circles_most) return {Code::unsupported, 0, "few_circles takes up to 2048 circles"};
    const dim3 regions(unsigned(ceil_div(a.frame.width, region)), unsigned(ceil_div(a.frame.height, region)));
    return launch(few_kernel,
                  {.grid = regions, .block = few_threads, .shared_bytes = sizeof(FewMemory), .stream = a.stream},
                  a.circles, a.n, a.image, a.frame);
  }
};

}  // namespace upsweep::ladders::render
