// Wrong on purpose: the totals are scanned inclusively, so that every tile adds its own total too.
//
// Must be caught: a wrong value from the first element on, as soon as there is a second tile.
#pragma once
#include "ladders/scan/sweeps.cuh"

namespace upsweep::ladders::scan {

struct own_total {
  static constexpr bool expected_wrong = true;
  static constexpr std::size_t largest = 128 * 128;  // so that the totals fit one tile
  static constexpr Story story{.idea = "an inclusive scan of the tiles' totals",
                               .prediction = "a wrong value as soon as there is a second tile"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.n == 0) return {};
    constexpr Tiling<Sweeps> tiling{64};
    const std::size_t tiles = tiling.count(a.n);
    T* const totals = static_cast<T*>(a.workspace->scratch((tiles + 1) * sizeof(T)));
    if (!totals) return no_memory_for_totals;
    const Shape shape = tiling.shape<T>(a.n, a.stream), one = tiling.shape<T>(tiles, a.stream);
    if (Status s = launch(tiles_kernel<Sweeps, T, Op>, shape, a.in, a.out, totals, a.n, a.inclusive, a.op); !s)
      return s;
    if (tiles == 1) return {};
    if (Status s = launch(tiles_kernel<Sweeps, T, Op>, one, totals, totals, nullptr, tiles, true, a.op); !s) return s;
    return launch(uniform_add_kernel<Sweeps, T, Op>, shape, totals, a.out, a.n, a.op);
  }
};

}  // namespace upsweep::ladders::scan
