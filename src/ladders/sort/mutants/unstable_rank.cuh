// Wrong on purpose: neighbouring lanes hold each other's keys, as if pairs were unpacked in the wrong order. Ranks
// follow the lanes.
//
// Must be caught: every pass orders its digits, but swaps neighbours with the same digit. Values and indices of equal
// keys are then out of order, and after a second pass, which relies on the first, so are keys. (If n is odd and the
// last key is in the last bucket, it is swapped with padding, and lost.)
#pragma once
#include "ladders/sort/ballot_passes.cuh"

namespace upsweep::ladders::sort {

template <class K>
struct SwappedTile : SweepTile<K> {
  static __device__ unsigned element(unsigned r) { return SweepTile<K>::element(r) ^ 1; }  // the mistake
};

struct unstable_rank {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "ranks with neighbouring keys swapped",
                               .prediction = "neighbours with the same digit are swapped"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return sweep_by_tiles<SwappedTile<typename Args<T, O>::Key>, OrderOf<T>>(a);
  }
};

}  // namespace upsweep::ladders::sort
