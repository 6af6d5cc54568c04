// render/tile_ballot: places by ballots instead of a scan.
//
// A ballot tells every lane which lanes of its warp found a circle: the set bits below its own are its place among
// them. Eight warps' totals remain to be added, two barriers instead of ten. The listed circles themselves are kept in
// shared memory, so that the pixels do not fetch them again.
//
// Traffic   every circle once per tile.
// Order     the input's: exact.
// Source    Harris, Garland, Optimizing Parallel Prefix Operations for the Fermi Architecture, 2012.
#pragma once
#include "ladders/render/tile_list.cuh"

namespace upsweep::ladders::render {

struct tile_ballot {
  static constexpr Story story{.idea = "places by warp ballots; the listed circles in shared memory",
                               .prediction = "twice as fast as tile_scan",
                               .guarantees = "exact",
                               .limits = "any n; fixed block size",
                               .source = "Harris, Garland 2012"};
  static constexpr bool reproducible_bits = true;
  template <class, class>
  static Status run(const Args& a) {
    return draw_by_tiles(a);
  }
};

}  // namespace upsweep::ladders::render
