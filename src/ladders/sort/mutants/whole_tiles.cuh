// Wrong on purpose: keys after the last whole tile are neither counted nor moved.
//
// Must be caught: the other keys are sorted, but the last elements of the outputs keep their poison or, in place, the
// keys that were there.
#pragma once
#include "ladders/sort/ballot_passes.cuh"

namespace upsweep::ladders::sort {

struct whole_tiles {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "a partial last tile is left out",
                               .prediction = "unwritten elements at the end, whatever the keys"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    using Tile = SweepTile<typename Args<T, O>::Key, multisplit::TileLookback, 1>;  // small: 512 keys
    Args<T, O> whole = a;
    whole.n -= a.n % Tile::size;  // the mistake
    return sweep_by_tiles<Tile, OrderOf<T>>(whole);
  }
};

}  // namespace upsweep::ladders::sort
