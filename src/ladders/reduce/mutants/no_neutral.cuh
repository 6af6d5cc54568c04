// Wrong on purpose: an empty input launches no kernel, so the output is not written.
//
// Must be caught: the poison in the output at n = 0.
#pragma once
#include "ladders/reduce/06_total.cuh"

namespace upsweep::ladders::reduce {

struct no_neutral {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "an early return for n = 0", .prediction = "the poison in the output at n = 0"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.n == 0) return {};
    return total::run(a);
  }
};

}  // namespace upsweep::ladders::reduce
