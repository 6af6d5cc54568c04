// Wrong on purpose: ignores a head at the start of a warp's part of a tile; the previous segment continues instead.
//
// Must be caught: a wrong value, if a head falls on such a boundary.
#pragma once
#include "ladders/segmented_scan/02_lookback.cuh"

namespace upsweep::ladders::segmented_scan {

static __global__ void forget_boundaries(unsigned* words,   // head bits
                                         std::size_t part,  // elements per warp; a multiple of 32
                                         std::size_t parts) {
  const std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k > 0 && k < parts) words[k * part / 32] &= ~1u;
}

struct boundary_head {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "heads at the boundaries between warps are ignored",
                               .prediction = "a wrong value, if a head falls on a boundary"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.n == 0) return {};
    const Aligned<T> input(a.in, a.n);
    Scratch scratch(*a.workspace);
    auto* const bits = scratch.take<unsigned>(head_words(input.begin, a.n));
    if (!scratch) return no_memory_for_heads;
    if (Status s = make_head_bits(a.heads, bits, input.begin, a.n, a.stream); !s) return s;
    constexpr std::size_t part = tile_rows * row_elements<T>;
    const std::size_t parts = ceil_div(input.end, part);
    const Shape shape{.grid = unsigned(ceil_div(parts, 256)), .block = 256, .stream = a.stream};
    if (Status s = launch(forget_boundaries, shape, bits, part, parts); !s) return s;
    return lookback::scan_with(a, HeadBits{bits});
  }
};

}  // namespace upsweep::ladders::segmented_scan
