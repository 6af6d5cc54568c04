// Wrong on purpose: each bucket is written from the start of the previous one.
//
// Must be caught: wrong elements as soon as two keys have adjacent digits, because their buckets overwrite each other.
#pragma once
#include "ladders/sort/ballot_passes.cuh"

namespace upsweep::ladders::sort {

struct ShiftedStarts : multisplit::TileLookback {
  __device__ void prepare(Memory& m) const {
    for (unsigned b = threadIdx.x; b < digit_values; b += blockDim.x) m.starts[b] = starts[b > 0 ? b - 1 : 0];
  }
};

struct shifted_starts {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "every bucket starts where the previous one does",
                               .prediction = "keys at offsets of other buckets"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return sweep_by_tiles<SweepTile<typename Args<T, O>::Key, ShiftedStarts>, OrderOf<T>>(a);
  }
};

}  // namespace upsweep::ladders::sort
