// scan/recursive: tiles in shared memory, their totals scanned by the same kernels, then a uniform add.
//
// The totals of n / 512 tiles are an array too: scan it the same way, until it fits in one tile. Then every tile adds
// its prefix. This takes three launches up to 2^18 elements, five up to 2^27; all accesses are coalesced.
//
// Traffic   2 reads and 2 writes per element (one more read when inclusive), and 1/512 of that for the totals.
// Order     as block, tile by tile.
// Source    Harris, Sengupta, Owens, GPU Gems 3, chapter 39.2.4, 2007.
#pragma once
#include "ladders/scan/levels.cuh"
#include "ladders/scan/sweeps.cuh"

namespace upsweep::ladders::scan {

struct recursive {
  static constexpr Story story{.idea = "tiles in shared memory; their totals by the same kernels; a uniform add",
                               .prediction = "half of the copy ceiling, less the sweeps' bank conflicts and barriers",
                               .guarantees = "same bits for the same n and block",
                               .limits = "sum, min, max; any n",
                               .source = "GPU Gems 3, chapter 39.2.4, 2007"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return scan_recursively<Sweeps>(a);
  }
};

}  // namespace upsweep::ladders::scan
