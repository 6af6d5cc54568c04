// Wrong on purpose: a look-back that reads the previous tile's prefix before its flag.
//
// The result is right if the previous tile has already published, as it always has on an emulator with one core.
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
