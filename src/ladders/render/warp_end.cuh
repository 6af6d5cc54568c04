// Draws a tile from the end of its list or column: each warp goes back until its pixels are saturated, then draws
// forwards from there.
#pragma once
#include <cmath>
#include <type_traits>

#include "ladders/render/patch.cuh"
#include "ladders/render/summary.cuh"

namespace upsweep::ladders::render {

// The shared memory of a block that draws from the ends of lists or columns.
template <unsigned per_lane>
struct PatchMemory {
  static constexpr unsigned threads = patch_threads<per_lane>, warps = patch_warps<per_lane>;
  // Maximum numbers of staged circles and of a warp's candidates among them, chosen so that blocks with 1024 threads in
  // total fit in the 227 KiB of a multiprocessor: two blocks with two pixels per lane, or four with four. In a
  // simulation of biglittle, warps next to the heap of small circles go through at most 430 circles, 160 of them
  // candidates.
  static constexpr unsigned max_staged = per_lane == 2 ? 1024 : 640, max_candidates = per_lane == 2 ? 480 : 224;
  static constexpr unsigned max_found = 512;
  Centres centres;
  Disc staged[max_staged];
  // Per pixel of the block, one bit per candidate of its warp, set if the candidate covers the pixel.
  unsigned covered[max_candidates / warp_size][per_lane][threads];
  alignas(16) unsigned short candidates[warps][max_candidates + warp_size];  // staged circles that reach the warp
  unsigned column_circles[max_found];                                        // found in a column in one step
  unsigned warp_totals[warp_size];
};

// A block's progress in staging its list or column, the last circle first.
struct Staged {
  unsigned count = 0;                // circles
  bool last = false, whole = false;  // no more can be staged; all circles are staged
};

// Optical depth at which a warp first compares its two results: 24 for the bits of f32, 12 more for the last place to
// agree in 99 of 100 warps, and 4 because the range of colours underneath is 16 times as wide unless every alpha is
// 1/2. Warps whose results differ retry, `retry_step` deeper each time.
template <bool fused>
inline constexpr unsigned first_try = fused ? 36 : 40;
inline constexpr unsigned retry_step = 8, last_try = 80;

// A warp that goes back through the circles staged by its block. `fused`: every alpha is 1/2.
template <unsigned per_lane, bool fused>
class WarpEnd {
 public:
  // A pixel's optical depth. With alpha = 1/2 it is the number of covering circles, an integer.
  using Depth = std::conditional_t<fused, unsigned, float>;
  bool saturated = false, full = false;

  __device__ WarpEnd(PatchMemory<per_lane>& memory, const LanePixels<per_lane>& pixels)
      : memory_(memory), patch_(memory.centres), warp_(threadIdx.x / warp_size), lane_(threadIdx.x % warp_size) {
    for (unsigned k = 0; k < per_lane; ++k) depth_[k] = pixels.inside[k] ? Depth{0} : deepest;
  }

  // Continues through the `count` staged circles until all pixels have the optical depth `enough`. Circles that reach
  // the warp become candidates and are tested 32 at a time, fewer only if `last`.
  __device__ void go_back(unsigned count, bool last, Depth enough) {
    const typename Patch<per_lane>::Bounds bounds = patch_.bounds();
    if (!last) count -= count % warp_size;
    n_drawn_ = n_tested_;  // undoes the trim() of the last try
    saturated = deep(enough);
    while (!saturated && !full) {
      for (; n_candidates_ < n_tested_ + warp_size && next_ < count; next_ += warp_size) {
        const unsigned at = next_ + lane_;
        const auto reach = bounds.reached_by(memory_.staged[min(at, count - 1)]);
        const bool reached = at < count && reach.any;
        const unsigned ballot = __ballot_sync(all_lanes, reached);
        if (reached)
          candidates()[n_candidates_ + unsigned(__popc(ballot & ((1u << lane_) - 1)))] =
              static_cast<unsigned short>(at * unsigned(sizeof(Disc)) | unsigned(reach.all));
        n_candidates_ += unsigned(__popc(ballot));
      }
      const unsigned size = min(n_candidates_ - n_tested_, warp_size);
      if (size == 0 || (size < warp_size && !last)) return;
      test(size);
      full = n_tested_ == PatchMemory<per_lane>::max_candidates;
      saturated = deep(enough);
    }
    if (fused && saturated && n_tested_ > 0) trim(enough);
  }

  // Draws the tested candidates over `low` and, while `two` is set, over `high`. Returns whether both end up equal.
  __device__ bool draw(Colour (&low)[per_lane], Colour (&high)[per_lane], bool two) {
    unsigned end = (n_drawn_ + 7) / 8 * 8;
    two = two && !same(low, high);
    for (; two && end > 0; end -= 8) {
      draw_8<true>(low, high, end - 8);
      two = !same(low, high);
    }
    for (; end > 0; end -= 8) draw_8<false>(low, high, end - 8);
    return !two;
  }

 private:
  // Maximum number of partial candidates, out of 32, that are tested one by one in every lane: 24 instructions each, or
  // 35 with four pixels per lane. A partial candidate reaches the patch but does not cover all of it. More are tested
  // together by find_covered(), in 300 or 530 instructions.
  static constexpr int max_partial = per_lane == 2 ? 8 : 14;
  static constexpr Depth deepest = 1 << 30;  // of pixels past the image's edges
  // A candidate is the byte offset of its disc in `staged`; the lowest bit is set if it covers all of the warp's
  // pixels.
  __device__ unsigned short* candidates() const { return memory_.candidates[warp_]; }
  __device__ const Disc& disc(unsigned entry) const {
    return *reinterpret_cast<const Disc*>(reinterpret_cast<const char*>(memory_.staged) + (entry & ~1u));
  }
  __device__ bool deep(Depth enough) const {
    Depth min_depth = depth_[0];
    for (const Depth d : depth_) min_depth = min(min_depth, d);
    return __all_sync(all_lanes, min_depth >= enough);
  }

  // Finds which pixels the next `size` candidates cover.
  __device__ void test(unsigned size) {
    __syncwarp();
    if (lane_ >= size) candidates()[n_tested_ + lane_] = 0;
    const unsigned entry = lane_ < size ? candidates()[n_tested_ + lane_] : 1;
    unsigned part = __ballot_sync(all_lanes, !(entry & 1)), bits[per_lane];
    if (__popc(part) > max_partial) {
      const Disc& c = disc(entry);
      find_covered(bits, patch_.x, patch_.y, c.x, c.y, lane_ < size ? c.radius2 : -1.f);
    } else {
      for (unsigned& word : bits) word = ~part & (size < warp_size ? (1u << size) - 1 : all_lanes);
      const typename Patch<per_lane>::Pixels pixels = patch_.pixels();
      for (; part; part &= part - 1) {
        const unsigned e = lowest_bit(part);
        const auto covered = pixels.covered_by(disc(__shfl_sync(all_lanes, entry, int(e))));
        for (unsigned k = 0; k < per_lane; ++k)
          if (covered.of[k]) bits[k] |= 1u << e;
      }
    }
    for (unsigned k = 0; k < per_lane; ++k) memory_.covered[n_tested_ / warp_size][k][threadIdx.x] = bits[k];
    if constexpr (fused) {
      for (unsigned k = 0; k < per_lane; ++k) depth_[k] += unsigned(__popc(bits[k]));
    } else {
      const float of_own = lane_ < size ? -log2f(1 - disc(entry).alpha) : 0;
      for (unsigned e = 0; e < size; ++e) {
        const float of_circle = __shfl_sync(all_lanes, of_own, int(e));
        for (unsigned k = 0; k < per_lane; ++k)
          if (bits[k] >> e & 1) depth_[k] += of_circle;
      }
    }
    n_drawn_ = n_tested_ += size;
    __syncwarp();
  }
  // Drops candidates that no pixel needs from the last 32 tested, in groups of 8.
  __device__ void trim(Depth enough) {
    const unsigned word = (n_tested_ - 1) / warp_size;
    const auto enough_with = [&](unsigned first) {
      bool deep_enough = true;
      for (unsigned k = 0; k < per_lane; ++k) {
        const unsigned rest = memory_.covered[word][k][threadIdx.x] >> first;
        deep_enough = deep_enough && depth_[k] >= enough + unsigned(__popc(rest));
      }
      return __all_sync(all_lanes, deep_enough);
    };
    const unsigned first = enough_with(16) ? (enough_with(8) ? 8 : 16) : enough_with(24) ? 24 : warp_size;
    n_drawn_ = min(n_tested_, word * warp_size + first);
  }

  __device__ bool same(const Colour (&low)[per_lane], const Colour (&high)[per_lane]) const {
    bool equal = true;
    for (unsigned k = 0; k < per_lane; ++k)
      equal = equal && (fused ? same_bits(low[k], high[k]) : same_numbers(low[k], high[k]));
    return __all_sync(all_lanes, equal);
  }
  __device__ static __forceinline__ void over(Colour& c, const Disc& d) {
    if constexpr (fused)
      c.red = fmaf(0.5f, c.red, d.red), c.green = fmaf(0.5f, c.green, d.green), c.blue = fmaf(0.5f, c.blue, d.blue);
    else
      blend(c, {d.red, d.green, d.blue, d.through, d.alpha});
  }
  template <bool two>
  __device__ __forceinline__ void draw_8(Colour (&low)[per_lane], Colour (&high)[per_lane], unsigned first) {
    struct alignas(16) Entries {
      unsigned short entry[8];
    };
    const Entries eight = *reinterpret_cast<const Entries*>(candidates() + first);
    unsigned bits[per_lane];
    for (unsigned k = 0; k < per_lane; ++k)
      bits[k] = memory_.covered[first / warp_size][k][threadIdx.x] >> first % warp_size;
#pragma unroll
    for (int e = 7; e >= 0; --e) {
      const Disc c = disc(eight.entry[e]);
#pragma unroll
      for (unsigned k = 0; k < per_lane; ++k) {
        if (bits[k] >> e & 1) over(low[k], c);
        if (two && (bits[k] >> e & 1)) over(high[k], c);
      }
    }
  }

  PatchMemory<per_lane>& memory_;
  const Patch<per_lane> patch_;
  const unsigned warp_, lane_;
  unsigned next_ = 0;                                       // next staged circle
  unsigned n_candidates_ = 0, n_tested_ = 0, n_drawn_ = 0;  // found, tested, and to be drawn
  Depth depth_[per_lane];
};

// Block-wide: draws the tile from the end of its list or column and returns true, or returns false if that is
// impossible. stage(staged) stages more circles.
template <unsigned per_lane, bool fused, bool exact, class Stage>
__device__ bool draw_end(float target_depth, const Range& colours, PatchMemory<per_lane>& memory, Tile tile,
                         float* image, const Frame& f, Stage&& stage) {
  const LanePixels<per_lane> pixels(f, tile);
  WarpEnd<per_lane, fused> warp(memory, pixels);
  bool drawn = false, given_up = false;
  // The colours to draw over: both ends of the range, or with an eps its midpoint, which halves the error.
  Range range = underneath(colours, f, fused || !exact);
  // A range of twice the largest colour requires one more unit of depth.
  const auto enough_for_eps =
      typename WarpEnd<per_lane, fused>::Depth(fused ? ceilf(target_depth) : target_depth) + (range.low < 0 ? 1 : 0);
  if (!exact) range.low = range.high = (range.low + range.high) / 2;
  auto enough = exact ? first_try<fused> : enough_for_eps;
  const auto draw = [&](bool over_background) {
    Colour low[per_lane], high[per_lane];
    for (unsigned k = 0; k < per_lane; ++k) {
      low[k] = high[k] = flat_background(f);
      if (over_background || !pixels.inside[k]) continue;
      low[k] = {range.low, range.low, range.low, 1}, high[k] = {range.high, range.high, range.high, 1};
    }
    drawn = warp.draw(low, high, exact && !over_background);
    if (drawn) pixels.store(image, f, low);
  };
  Staged staged;
  do {
    stage(staged);
    while (!drawn && !given_up) {
      warp.go_back(staged.count, staged.last, enough);
      const bool whole_list = staged.whole && !warp.full;
      if (!warp.saturated && !whole_list) break;
      draw(!warp.saturated);
      enough += retry_step;
      given_up = !drawn && enough > last_try;
    }
  } while (!__syncthreads_and(drawn || given_up || warp.full) && !staged.last);
  return __syncthreads_and(drawn);
}

// As above, with fused blends if every alpha is 1/2.
template <unsigned per_lane, bool exact, class Stage>
__device__ __forceinline__ bool draw_end(float target_depth, const Summary& total, PatchMemory<per_lane>& memory,
                                         Tile tile, float* image, const Frame& f, Stage&& stage) {
  return total.uneven == 0
             ? draw_end<per_lane, true, exact>(target_depth, total.colours(), memory, tile, image, f, stage)
             : draw_end<per_lane, false, exact>(target_depth, total.colours(), memory, tile, image, f, stage);
}

// Returns whether going back through a complete list may pay off. The image must have twice the target depth, because a
// warp waits for its slowest pixel and draws over two colours.
__device__ inline bool pays_to_go_back(const Summary& total, float target_depth) {
  return total.optical_depth() > 2 * target_depth;
}

// Returns the optical depth at which circles no longer matter. With an eps, half of eps covers the colours underneath
// and half the rounding. Without one, it is the depth of the first try.
inline float target_depth_of(const Frame& f) { return f.eps == 0 ? first_try<false> : -std::log2(f.eps); }

// Returns 0, n - 1, 1, n - 2, ... for k = 0, 1, 2, 3, ... The blocks of a launch take tiles in this order, from the
// image's edges inwards, so that the tiles with the fewest circles, which go back the farthest, start first.
__device__ __forceinline__ unsigned outside_in(unsigned k, unsigned n) { return k % 2 ? n - 1 - k / 2 : k / 2; }
__device__ __forceinline__ Tile tile_outside_in() {
  return Tile(outside_in(blockIdx.x, gridDim.x), outside_in(blockIdx.y, gridDim.y));
}

}  // namespace upsweep::ladders::render
