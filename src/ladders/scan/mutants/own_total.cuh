// Wrong on purpose: the totals are scanned inclusively, so every tile also adds its own total.
//
// Must be caught: a wrong value from the first element on, if there is more than one tile.
#pragma once
#include "ladders/scan/sweeps.cuh"

namespace upsweep::ladders::scan {

struct own_total {
  static constexpr bool expected_wrong = true;
  static constexpr std::size_t largest = 128 * 128;  // so that the totals fit in one tile
  static constexpr Story story{.idea = "an inclusive scan of the tiles' totals",
                               .prediction = "a wrong value if there is more than one tile"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.n == 0) return {};
    constexpr Tiling<Sweeps> tiling{64};
    const std::size_t tiles = tiling.count(a.n);
    Scratch scratch(*a.workspace);
    T* const totals = scratch.take<T>(tiles + 1);
    if (!scratch) return no_memory_for_totals;
    const Shape shape = tiling.shape<T>(a.n, a.stream), one = tiling.shape<T>(tiles, a.stream);
    if (Status s = launch(tiles_kernel<Sweeps, T, Op>, shape, a.in, a.out, totals, a.n, a.inclusive, a.op); !s)
      return s;
    if (tiles == 1) return {};
    if (Status s = launch(tiles_kernel<Sweeps, T, Op>, one, totals, totals, nullptr, tiles, true, a.op); !s) return s;
    return launch(uniform_add_kernel<Sweeps, T, Op>, shape, totals, a.out, a.n, a.op);
  }
};

}  // namespace upsweep::ladders::scan
