// Recursive scan for any tile scan (tiles.cuh): scans the tiles, scans their totals with the same kernels, then adds
// each tile's prefix.
#pragma once
#include "ladders/scan/tiles.cuh"

namespace upsweep::ladders::scan {

// Scans in[0..n) to out[0..n): this level and, recursively, all further levels. `totals` has space for the totals of
// all these levels.
template <class Tile, class T, class Op>
Status scan_level(const T* in, T* out, std::size_t n, bool inclusive, T* totals, Tiling<Tile> tiling, Op op,
                  Stream stream) {
  if (n == 0) return {};
  const std::size_t tiles = tiling.count(n);
  const Shape shape = tiling.template shape<T>(n, stream);
  if (Status s = launch(tiles_kernel<Tile, T, Op>, shape, in, out, totals, n, inclusive, op); !s || tiles == 1)
    return s;
  if (Status s = scan_level<Tile, T, Op>(totals, totals, tiles, false, totals + tiles, tiling, op, stream); !s)
    return s;
  return launch(uniform_add_kernel<Tile, T, Op>, shape, totals, out, n, op);
}

// Runs a recursive rung: allocates the totals of all levels, then scans.
template <class Tile, class T, class Op>
Status scan_recursively(const Args<T, Op>& a) {
  const Tiling<Tile> tiling = tiling_of<Tile>(a.tuning);
  if (Status s = Tile::refusal(tiling.threads); !s) return s;
  std::size_t count = 1;  // the one total of the last level
  for (std::size_t n = a.n; n > tiling.elements();) count += n = tiling.count(n);
  Scratch scratch(*a.workspace);
  T* const totals = scratch.take<T>(count);
  if (!scratch) return no_memory_for_totals;
  return scan_level(a.in, a.out, a.n, a.inclusive, totals, tiling, a.op, a.stream);
}

}  // namespace upsweep::ladders::scan
