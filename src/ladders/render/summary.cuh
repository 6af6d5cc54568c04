// A summary of all circles: the range of their colours, the image's optical depth, and whether all alphas are 1/2.
#pragma once
#include "kernel/block.h"
#include "ladders/render/blend.h"

namespace upsweep::ladders::render {

struct Range {
  float low, high;
};

// Transmittance below which circles underneath hardly matter: that of 40 circles of alpha 1/2.
inline constexpr float saturated_at = 0x1p-40f;

// The summary as four integers: a warp reduces each with one instruction, and one 16-byte load reads them all.
struct alignas(16) Summary {
  unsigned low = 0, high = 0;  // bits of -min(0, colours) and of max(0, colours)
  // 0 if every blend may be a fused multiply-add with an alpha of 1/2; otherwise the inverted bits of the smallest
  // alpha that prevents this.
  unsigned uneven = 0;
  // Optical depth: the sum of -log2(1 - alpha) over the circles that cover a pixel. Per block, summed over pixels; in
  // the summary, the mean per pixel in 16.16 fixed point.
  unsigned depth = 0;
  // Returns a summary with the mean depth per pixel instead of the sum, clamped below 2^23, so that 32 bits hold the
  // sum over 512 blocks.
  __device__ Summary per_pixel(float pixels) const {
    const float mean = float(depth) * (0x1p16f / pixels) + 0.5f;
    return {low, high, uneven, unsigned(min(mean, float((1 << 23) - 1)))};
  }
  __device__ Range colours() const { return {-__uint_as_float(low), __uint_as_float(high)}; }
  // Returns the smallest alpha of the circles that change a pixel, or 1/2 if that is smaller: `uneven` does not tell
  // whether any circle has an alpha of 1/2.
  __device__ float least_alpha() const { return uneven == 0 ? 0.5f : min(0.5f, __uint_as_float(~uneven)); }
  __device__ float optical_depth() const { return float(depth) * 0x1p-16f; }
  __device__ void add(const Summary& other) {
    low = max(low, other.low), high = max(high, other.high), uneven = max(uneven, other.uneven);
    depth += other.depth;
  }
  // Combines the summaries of the warp's lanes; every lane gets the result.
  __device__ Summary of_warp() const {
    return {warp_reduce_all(low, Max{}), warp_reduce_all(high, Max{}), warp_reduce_all(uneven, Max{}),
            warp_reduce_all(depth, Sum{})};
  }
};

// Accumulates one thread's part of the summary.
class Seen {
 public:
  // Adds a circle and its box of pixels; `per_circle` is pi divided by the area of a pixel. With an alpha of 1/2,
  // products are exact unless subnormal. If no colour is between 0 and 2^-100, a subnormal product is added to 0 or to
  // a number so large that it is rounded away; either way, a fused multiply-add gives the same float.
  __device__ void take(const Circle& c, const Box& box, float per_circle) {
    for (const float colour : {c.red, c.green, c.blue}) {
      colours_.low = min(colours_.low, colour), colours_.high = max(colours_.high, colour);
      if (colour != 0 && fabsf(colour) < 0x1p-100f) uneven_ = max(uneven_, ~__float_as_uint(0.5f));
    }
    if (box.empty()) return;
    const float in_box = float(box.right - box.left) * float(box.bottom - box.top);
    const float area = min(in_box, per_circle * square(c.radius));
    if (c.alpha == 0.5f)
      depth_ += area;
    else
      depth_ += min(64.f, -log2f(1 - c.alpha)) * area,
          uneven_ = max(uneven_, ~__float_as_uint(c.alpha > 0 ? c.alpha : 1.f));
  }
  // Returns the summary of the thread's circles. The depth is clamped below 2^24, 16 per pixel of 1024 x 1024, so that
  // 32 bits hold the sum over 256 threads.
  __device__ Summary summary() const {
    return {__float_as_uint(fabsf(colours_.low)), __float_as_uint(fabsf(colours_.high)), uneven_,
            unsigned(min(depth_, float((1 << 24) - 1)))};
  }

 private:
  Range colours_{0, 0};
  float depth_ = 0;  // optical depth, summed over pixels
  unsigned uneven_ = 0;
};

// Block-wide: combines the threads' summaries; every thread gets the result. Two calls need a __syncthreads() in
// between.
__device__ inline Summary block_summary(const Summary& s) {
  __shared__ Summary of_warps[warp_size];
  const Summary mine = s.of_warp();
  if (threadIdx.x % warp_size == 0) of_warps[threadIdx.x / warp_size] = mine;
  __syncthreads();
  const unsigned lane = threadIdx.x % warp_size;
  return (lane < blockDim.x / warp_size ? of_warps[lane] : Summary{}).of_warp();
}

// Returns the range of colours that can be underneath, given the range of the circles' colours, `drawn`.
//
// No colour exceeds 16 times the largest drawn one, M, in absolute value: blending M over C = 16 M gives at most C, for
// alpha above 2^-22 because 15 alpha outweighs the rounding, and below because the sum rounds to C. If no drawn colour
// is negative, no blend is, but a blend may be -0. If every alpha is 1/2, no colour exceeds M itself, because M / 2 and
// M / 2 + M / 2 are exact.
__device__ inline Range underneath(const Range& drawn, const Frame& f, bool alpha_is_half = false) {
  const float low = min(drawn.low, min(f.red, min(f.green, f.blue)));
  if (alpha_is_half) return {low < 0 ? low : -0.f, max(drawn.high, max(f.red, max(f.green, f.blue)))};
  const float high = max(max(drawn.high, 1.f), max(-low, max(f.red, max(f.green, f.blue))));
  return {low < 0 ? -16 * high : -0.f, 16 * high};
}

}  // namespace upsweep::ladders::render
