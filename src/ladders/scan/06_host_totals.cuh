// scan/host_totals: the host scans the tiles' totals.
//
// The quadratic loop is gone: one host core can scan n / 512 totals, and a uniform add applies each tile's prefix. But
// the totals cross the bus twice, and the device waits for the host between the two kernels. A CUDA graph cannot
// capture that, so the rung is timed call by call.
//
// Traffic   2 reads and 2 writes per element (one more read when inclusive); n / 512 totals to the host and back.
// Order     as block within a tile; totals from left to right.
// Source    the recursion of GPU Gems 3, chapter 39.2.4, 2007, cut off at its first level.
#pragma once
#include <memory>
#include <new>

#include "kernel/host.h"
#include "ladders/scan/sweeps.cuh"

namespace upsweep::ladders::scan {

struct host_totals {
  static constexpr bool synchronises = true;
  static constexpr Story story{.idea = "the host scans the tiles' totals between two launches",
                               .prediction = "about 20 us slower than recursive at small n, a fifth slower at 2^28",
                               .guarantees = "same bits for the same n and block",
                               .limits = "sum, min, max; any n; waits for the device, so no graph can capture it",
                               .source = "GPU Gems 3, chapter 39.2.4, 2007, cut off at its first level"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const Tiling<Sweeps> tiling = tiling_of<Sweeps>(a.tuning);
    if (Status s = Sweeps::refusal(tiling.threads); !s) return s;
    if (a.n == 0) return {};
    const std::size_t tiles = tiling.count(a.n), bytes = tiles * sizeof(T);
    Scratch scratch(*a.workspace);
    T* const totals = scratch.take<T>(tiles);
    const std::unique_ptr<T[]> host(new (std::nothrow) T[tiles]);
    if (!scratch || !host) return no_memory_for_totals;
    const Shape shape = tiling.shape<T>(a.n, a.stream);
    if (Status s = launch(tiles_kernel<Sweeps, T, Op>, shape, a.in, a.out, totals, a.n, a.inclusive, a.op); !s)
      return s;

    if (Status s = copy_to_host(host.get(), totals, bytes, a.stream); !s) return s;
    T before = Op::template neutral<T>();
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const T total = host[tile];
      host[tile] = before;
      before = a.op(before, total);
    }
    if (Status s = copy_to_device(totals, host.get(), bytes, a.stream); !s) return s;

    return launch(uniform_add_kernel<Sweeps, T, Op>, shape, totals, a.out, a.n, a.op);
  }
};

}  // namespace upsweep::ladders::scan
