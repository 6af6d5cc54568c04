// render/tile_ballot: list offsets from warp ballots instead of a scan.
//
// A ballot tells every lane which lanes of its warp have a circle that reaches the tile. The number of set bits below a
// lane's own bit is the offset of its circle among them. Only the eight warp totals remain to be added: two barriers
// instead of ten. The listed circles are copied to shared memory, so that the pixels do not fetch them again.
//
// Traffic   every circle once per tile.
// Order     the input's: exact.
// Source    Harris, Garland, Optimizing Parallel Prefix Operations for the Fermi Architecture, 2012.
#pragma once
#include "ladders/render/tile_list.cuh"

namespace upsweep::ladders::render {

struct tile_ballot {
  static constexpr Story story{.idea = "list offsets from warp ballots; listed circles in shared memory",
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
