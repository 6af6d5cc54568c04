// Wrong on purpose: a look-back that reads the previous tile's prefix before its flag.
//
// Right if the previous tile was published before, as it always is on one core of the emulator.
//
// Must be caught: a race in global memory, even if the value is right; a wrong value if tiles run concurrently.
#pragma once
#include "ladders/scan/mutants/missing_fence.cuh"

namespace upsweep::ladders::scan {

struct value_first {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "the prefix is read before the flag that says whether it is valid",
                               .prediction = "a race in global memory, and sometimes a wrong value"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return scan_with_two_words<TwoWords::value_first>(a);
  }
};

}  // namespace upsweep::ladders::scan
