// Wrong on purpose: the totals are scanned inclusively, so that every tile adds its own total too.
//
// Must be caught: a wrong value from the first element on, as soon as there is a second tile.
#pragma once
#include "scan/07_recursive.cuh"

namespace upsweep::ladders::scan {

struct own_total {
  static constexpr bool expected_wrong = true;
  static constexpr std::size_t largest = 128 * 128;  // so that the totals fit one tile
  static constexpr Story story{.idea = "an inclusive scan of the tiles' totals",
                               .prediction = "a wrong value as soon as there is a second tile"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    constexpr unsigned threads = 64, tile = 2 * threads;
    if (a.n == 0) return {};
    const auto tiles = static_cast<unsigned>(ceil_div(a.n, tile));
    T* const totals = static_cast<T*>(a.workspace->scratch((tiles + 1) * sizeof(T)));
    if (!totals) return {Code::out_of_memory, 0, "no memory for the tiles' totals"};
    const auto shape = [&](unsigned grid) {
      return Shape{.grid = grid, .block = threads, .shared_bytes = tile * sizeof(T), .stream = a.stream};
    };
    if (Status s = launch(tiles_kernel<T, Op>, shape(tiles), a.in, a.out, totals, a.n, a.inclusive, a.op); !s) return s;
    if (tiles == 1) return {};
    if (Status s = launch(tiles_kernel<T, Op>, shape(1), totals, totals, totals + tiles, tiles, true, a.op); !s)
      return s;
    return launch(uniform_add_kernel<T, Op>, shape(tiles), totals, a.out, a.n, a.op);
  }
};

}  // namespace upsweep::ladders::scan
