// The range that colours can be in, whichever circles are underneath.
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
  // How often what covers a pixel halves it. Of a block's circles, the sum over all pixels; then the mean, by 2^-16.
  unsigned depth = 0;
  // With the mean instead of the sum, and below 2^23, so that those of 512 blocks can be added.
  __device__ Summary per_pixel(float pixels) const {
    const float mean = float(depth) * (0x1p16f / pixels) + 0.5f;
    return {least, most, uneven, unsigned(min(mean, float((1 << 23) - 1)))};
  }
  __device__ Range colours() const { return {-__uint_as_float(least), __uint_as_float(most)}; }
  // Of the circles that change anything; 1/2 may be among them.
  __device__ float least_alpha() const { return uneven == 0 ? 0.5f : min(0.5f, __uint_as_float(~uneven)); }
  __device__ float halvings() const { return float(depth) * 0x1p-16f; }
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
      halvings_ += area;
    else
      halvings_ += min(64.f, -log2f(1 - c.alpha)) * area,
          uneven_ = max(uneven_, ~__float_as_uint(c.alpha > 0 ? c.alpha : 1.f));
  }
  // Its depth is 16 times 1024 x 1024 pixels at most, so that those of 256 threads can be added.
  __device__ Summary summary() const {
    return {__float_as_uint(fabsf(colours_.least)), __float_as_uint(fabsf(colours_.most)), uneven_,
            unsigned(min(halvings_, float((1 << 24) - 1)))};
  }

 private:
  Range colours_{0, 0};
  float halvings_ = 0;  // the sum of -log2(1 - alpha) over circles and their pixels
  unsigned uneven_ = 0;
};

// At most this many blocks: enough to read circles at the speed of memory, few enough for a block's threads to combine
// their results.
inline constexpr unsigned survey_blocks = 256, survey_threads = 256;

// The ranges that the blocks of a survey found.
struct Survey {
  Range* ranges;  // [blocks]
  unsigned blocks;
  Survey(Range* to, std::size_t n) : ranges(to), blocks(1) {
    if (const std::size_t wanted = ceil_div(n, survey_threads); wanted > 1)
      blocks = wanted < survey_blocks ? unsigned(wanted) : survey_blocks;
  }
};

__device__ inline Range block_range(Range r, float* warp_totals) {  // [32], shared
  r.most = block_reduce(r.most, Max{}, warp_totals);
  __syncthreads();
  r.least = block_reduce(r.least, Min{}, warp_totals);
  return r;
}

static __global__ void __launch_bounds__(survey_threads) survey_kernel(const float* circles,  // [n][8]
                                                                       std::size_t n,
                                                                       Range* ranges) {  // [gridDim.x]
  __shared__ float warp_totals[warp_size];
  Range r{0, 0};
  for (std::size_t k = std::size_t(blockIdx.x) * survey_threads + threadIdx.x; k < n;
       k += std::size_t(survey_threads) * gridDim.x)
    for (unsigned colour = 4; colour < 7; ++colour) {
      const float value = circles[k * floats_per_circle + colour];
      r.least = min(r.least, value), r.most = max(r.most, value);
    }
  r = block_range(r, warp_totals);
  if (threadIdx.x == 0) ranges[blockIdx.x] = r;
}

// The summaries of a block's threads together. All threads have it. Another call is to follow a __syncthreads().
__device__ inline Summary block_summary(const Summary& s) {
  __shared__ Summary of_warps[warp_size];
  const Summary own = s.of_warp();
  if (threadIdx.x % warp_size == 0) of_warps[threadIdx.x / warp_size] = own;
  __syncthreads();
  const unsigned lane = threadIdx.x % warp_size;
  return (lane < blockDim.x / warp_size ? of_warps[lane] : Summary{}).of_warp();
}

inline Status run_survey(const Args& a, const Survey& survey) {
  return launch(survey_kernel, {.grid = survey.blocks, .block = survey_threads, .stream = a.stream}, a.circles, a.n,
                survey.ranges);
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

// The same from the blocks' results, for all threads of a block of at least survey_blocks threads.
__device__ inline Range colour_range(const Survey& survey, const Frame& f) {
  __shared__ float warp_totals[warp_size];
  __shared__ Range all;
  Range r{0, 0};
  if (threadIdx.x < survey.blocks) r = survey.ranges[threadIdx.x];
  r = block_range(r, warp_totals);
  if (threadIdx.x == 0) all = underneath(r, f);
  __syncthreads();
  return all;
}

}  // namespace upsweep::ladders::render
