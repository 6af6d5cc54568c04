// scan/recursive: tiles in shared memory, their totals scanned by the same kernels, then a uniform add.
//
// The totals of n / 512 tiles are an array like any other: scan it the same way, until it fits one tile. Then every
// tile adds what is left of it. Three launches up to 2^18 elements, five up to 2^27, and all accesses coalesced.
//
// Traffic   2 reads and 2 writes an element (one read more when inclusive), and 1/512 of that for the totals.
// Order     as block, tile by tile.
// Source    Harris, Sengupta, Owens, GPU Gems 3, chapter 39.2.4, 2007.
#pragma once
#include "scan/sweeps.cuh"

namespace upsweep::ladders::scan {

// out[0..n) = the scan of in[0..n): tiles, the scan of their totals by the same kernels, a uniform add. `totals` has
// room for this level's totals and those below.
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

// The rung for any way to scan a tile: scratch for the totals of all levels, then the levels.
template <class Tile, class T, class Op>
Status scan_recursively(const Args<T, Op>& a) {
  const Tiling<Tile> tiling = tiling_of<Tile>(a.params);
  if (Status s = Tile::refusal(tiling.threads); !s) return s;
  std::size_t count = 1;  // the one total of the last level
  for (std::size_t n = a.n; n > tiling.elements();) count += n = tiling.count(n);
  T* const totals = static_cast<T*>(a.workspace->scratch(count * sizeof(T)));
  if (!totals) return no_memory_for_totals;
  return scan_level(a.in, a.out, a.n, a.inclusive, totals, tiling, a.op, a.stream);
}

struct recursive {
  static constexpr Story story{.idea = "tiles in shared memory; their totals by the same kernels; a uniform add",
                               .prediction = "half of the copy ceiling less the sweeps' bank conflicts and barriers",
                               .guarantees = "same bits for the same n and block",
                               .limits = "any n",
                               .source = "GPU Gems 3, chapter 39.2.4, 2007"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return scan_recursively<Sweeps>(a);
  }
};

}  // namespace upsweep::ladders::scan
