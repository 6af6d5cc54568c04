// Wrong on purpose: merge_loop without the array for its tiles. It reads totals from the output while other blocks
// already add to them.
//
// Must be caught: a wrong value from the third tile on, if an earlier block has finished.
#pragma once
#include "ladders/scan/04_merge_totals.cuh"

namespace upsweep::ladders::scan {

template <class T, class Op>
__global__ void merge_in_place_kernel(T* out,  // [n], tiles of 2 * blockDim.x elements, each scanned inclusively
                                      std::size_t n, Op op) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const std::size_t tile = 2 * std::size_t(blockDim.x);
  T prefix = Op::template neutral<T>();
  for (std::size_t total = tile - 1; total < i; total += tile) prefix = op(prefix, out[total]);
  out[i] = op(prefix, out[i]);
}

struct merge_in_place {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "totals are read from the output while other blocks add to them",
                               .prediction = "a wrong value from the third tile on, depending on timing"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    // An exclusive scan leaves no totals in the output; it runs the correct rung, so that only the race can be caught.
    if (!a.inclusive) return merge_totals::run<T, Op>(a);
    if (a.n == 0) return {};
    constexpr Tiling<Sweeps> tiling{64};
    if (Status s =
            launch(tiles_kernel<Sweeps, T, Op>, tiling.shape<T>(a.n, a.stream), a.in, a.out, nullptr, a.n, true, a.op);
        !s)
      return s;
    return launch(merge_in_place_kernel<T, Op>,
                  {.grid = static_cast<unsigned>(ceil_div(a.n, tiling.threads)), .block = 64, .stream = a.stream},
                  a.out, a.n, a.op);
  }
};

}  // namespace upsweep::ladders::scan
