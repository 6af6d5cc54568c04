// The range that colours can be in, whichever circles are underneath.
#pragma once
#include "kernel/block.h"
#include "ladders/render/blend.h"

namespace upsweep::ladders::render {

struct Range {
  float least, most;
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

inline Status run_survey(const Args& a, const Survey& survey) {
  return launch(survey_kernel, {.grid = survey.blocks, .block = survey_threads, .stream = a.stream}, a.circles, a.n,
                survey.ranges);
}

// Combines the blocks' results, for all threads of a block of at least survey_blocks threads.
//
// No colour exceeds 16 times the largest that is drawn, in absolute value: a blend of M over C is at most C where C is
// 16 M; for alpha above 2^-22 because 15 alpha outweighs the rounding, and below because the sum rounds to C. Where
// nothing negative is drawn, no blend is negative.
__device__ inline Range colour_range(const Survey& survey, const Frame& f) {
  __shared__ float warp_totals[warp_size];
  __shared__ Range all;
  Range r{0, 0};
  if (threadIdx.x < survey.blocks) r = survey.ranges[threadIdx.x];
  r = block_range(r, warp_totals);
  if (threadIdx.x == 0) {
    const float least = min(r.least, min(f.red, min(f.green, f.blue)));
    const float most = max(max(r.most, 1.f), max(-least, max(f.red, max(f.green, f.blue))));
    all = {least < 0 ? -16 * most : 0, 16 * most};
  }
  __syncthreads();
  return all;
}

}  // namespace upsweep::ladders::render
