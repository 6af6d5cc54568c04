// Wrong on purpose: a look-back that reads the prefix of the tile before it, and then whether it was there.
//
// Right whenever the tile before has long been done, which on one core of the emulator it always has.
//
// Must be caught: a race on global memory, whatever the value; and where tiles run side by side, a wrong one.
#pragma once
#include "ladders/scan/mutants/missing_fence.cuh"

namespace upsweep::ladders::scan {

struct value_first {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "the prefix is read before the word that says whether it is there",
                               .prediction = "a race on global memory, and at times a wrong value"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return scan_with_two_words<TwoWords::value_first>(a);
  }
};

}  // namespace upsweep::ladders::scan
