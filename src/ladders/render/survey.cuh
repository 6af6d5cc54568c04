// The range that colours can be in, whichever circles are underneath.
#pragma once
#include "kernel/block.h"
#include "ladders/render/blend.h"

namespace upsweep::ladders::render {

struct Range {
  float least, most;
};

// What is known of all circles. Loaded at once.
struct alignas(16) Summary {
  Range colours{0, 0};
  float halvings = 0;  // the sum of -log2(1 - alpha) over circles and their pixels; per pixel, how often one is halved
  float uneven = 0;    // 0: every blend may be a fused multiply-add
  __device__ void add(const Summary& other) {
    colours = {min(colours.least, other.colours.least), max(colours.most, other.colours.most)};
    halvings += other.halvings, uneven = max(uneven, other.uneven);
  }
  // The product of 1/2 and a colour is exact but among the subnormals, and there the sum rounds it away or is zero.
  // `per_circle`: pi over a pixel's area.
  __device__ void take(const Circle& c, const Box& box, float per_circle) {
    for (const float colour : {c.red, c.green, c.blue}) {
      colours.least = min(colours.least, colour), colours.most = max(colours.most, colour);
      if (colour != 0 && fabsf(colour) < 0x1p-100f) uneven = 1;
    }
    if (box.empty()) return;
    const float in_box = float(box.right - box.left) * float(box.bottom - box.top);
    const float area = min(in_box, per_circle * square(c.radius));
    if (c.alpha == 0.5f)
      halvings += area;
    else
      halvings += min(64.f, -log2f(1 - c.alpha)) * area, uneven = 1;
  }
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

struct Together {
  template <class>
  __device__ static Summary neutral() {
    return {};
  }
  __device__ Summary operator()(Summary a, const Summary& b) const {
    a.add(b);
    return a;
  }
};
// Thread 0 has the summary of a block of whole warps.
__device__ inline Summary block_summary(const Summary& s) {
  __shared__ Summary warp_totals[warp_size];
  return block_reduce(s, Together{}, warp_totals);
}

inline Status run_survey(const Args& a, const Survey& survey) {
  return launch(survey_kernel, {.grid = survey.blocks, .block = survey_threads, .stream = a.stream}, a.circles, a.n,
                survey.ranges);
}

// The range of colours that can be underneath, if `drawn` is that of the circles.
//
// No colour exceeds 16 times the largest that is drawn, in absolute value: a blend of M over C is at most C where C is
// 16 M; for alpha above 2^-22 because 15 alpha outweighs the rounding, and below because the sum rounds to C. Where
// nothing negative is drawn, no blend is negative.
// With alpha 1/2 everywhere (`halves`), none exceeds the largest itself: half of it is exact, and so is twice that.
__device__ inline Range underneath(const Range& drawn, const Frame& f, bool halves = false) {
  const float least = min(drawn.least, min(f.red, min(f.green, f.blue)));
  if (halves) return {least, max(drawn.most, max(f.red, max(f.green, f.blue)))};
  const float most = max(max(drawn.most, 1.f), max(-least, max(f.red, max(f.green, f.blue))));
  return {least < 0 ? -16 * most : 0, 16 * most};
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
