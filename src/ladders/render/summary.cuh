// What is known of all circles together: the range of their colours, how deep they cover the image, and whether all
// alphas are 1/2.
#pragma once
#include "kernel/block.h"
#include "ladders/render/blend.h"

namespace upsweep::ladders::render {

struct Range {
  float least, most;
};

// What is known of some circles, as whole numbers: a warp combines its lanes' by one instruction each. Loaded at once.
struct alignas(16) Summary {
  unsigned least = 0, most = 0;  // bits of the least colour's absolute value, if negative, and of the largest
  // 0: every blend may be a fused multiply-add, with an alpha of 1/2. Otherwise the inverted bits of the least other
  // one.
  unsigned uneven = 0;
  // Optical depth: the sum of -log2(1 - alpha) over the circles that cover a pixel. Per block, summed over pixels; in
  // the summary, the mean per pixel in 16.16 fixed point.
  unsigned depth = 0;
  // With the mean instead of the sum, and below 2^23, so that those of 512 blocks can be added.
  __device__ Summary per_pixel(float pixels) const {
    const float mean = float(depth) * (0x1p16f / pixels) + 0.5f;
    return {least, most, uneven, unsigned(min(mean, float((1 << 23) - 1)))};
  }
  __device__ Range colours() const { return {-__uint_as_float(least), __uint_as_float(most)}; }
  // Of the circles that change anything; 1/2 may be among them.
  __device__ float least_alpha() const { return uneven == 0 ? 0.5f : min(0.5f, __uint_as_float(~uneven)); }
  __device__ float optical_depth() const { return float(depth) * 0x1p-16f; }
  __device__ void add(const Summary& other) {
    least = max(least, other.least), most = max(most, other.most), uneven = max(uneven, other.uneven);
    depth += other.depth;
  }
  // To every lane.
  __device__ Summary of_warp() const {
    return {warp_reduce_all(least, Max{}), warp_reduce_all(most, Max{}), warp_reduce_all(uneven, Max{}),
            warp_reduce_all(depth, Sum{})};
  }
};

// What a thread has seen of its circles.
class Seen {
 public:
  // The product of 1/2 and a colour is exact but among the subnormals, and there the sum rounds it away or is zero.
  // `per_circle`: pi over a pixel's area.
  __device__ void take(const Circle& c, const Box& box, float per_circle) {
    for (const float colour : {c.red, c.green, c.blue}) {
      colours_.least = min(colours_.least, colour), colours_.most = max(colours_.most, colour);
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
  // Its depth is 16 times 1024 x 1024 pixels at most, so that those of 256 threads can be added.
  __device__ Summary summary() const {
    return {__float_as_uint(fabsf(colours_.least)), __float_as_uint(fabsf(colours_.most)), uneven_,
            unsigned(min(depth_, float((1 << 24) - 1)))};
  }

 private:
  Range colours_{0, 0};
  float depth_ = 0;  // optical depth, summed over pixels
  unsigned uneven_ = 0;
};

// The summaries of a block's threads together. All threads have it. Another call is to follow a __syncthreads().
__device__ inline Summary block_summary(const Summary& s) {
  __shared__ Summary of_warps[warp_size];
  const Summary own = s.of_warp();
  if (threadIdx.x % warp_size == 0) of_warps[threadIdx.x / warp_size] = own;
  __syncthreads();
  const unsigned lane = threadIdx.x % warp_size;
  return (lane < blockDim.x / warp_size ? of_warps[lane] : Summary{}).of_warp();
}

// The range of colours that can be underneath, if `drawn` is that of the circles.
//
// No colour exceeds 16 times the largest that is drawn, in absolute value: a blend of M over C is at most C where C is
// 16 M; for alpha above 2^-22 because 15 alpha outweighs the rounding, and below because the sum rounds to C. Where
// nothing negative is drawn, no blend is negative; but -0 it may be.
// With alpha 1/2 everywhere (`halves`), none exceeds the largest itself: half of it is exact, and so is twice that.
__device__ inline Range underneath(const Range& drawn, const Frame& f, bool halves = false) {
  const float least = min(drawn.least, min(f.red, min(f.green, f.blue)));
  if (halves) return {least < 0 ? least : -0.f, max(drawn.most, max(f.red, max(f.green, f.blue)))};
  const float most = max(max(drawn.most, 1.f), max(-least, max(f.red, max(f.green, f.blue))));
  return {least < 0 ? -16 * most : -0.f, 16 * most};
}

}  // namespace upsweep::ladders::render
