// Wrong on purpose: keys claim offsets by atomic additions, but the rung promises stability.
//
// Must be caught: each thread takes every 64th key, and nothing orders the threads. The offsets are right, and so is
// each bucket's set of keys, but not their order.
#pragma once
#include "ladders/partition/add_up.cuh"

namespace upsweep::ladders::partition {

struct unstable_rank {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "offsets by atomics, claimed to be stable",
                               .prediction = "keys or values of a bucket out of order"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const Shape shape{.block = 64, .stream = a.stream};
    return by_next_offset(a, shape, [&](Counter* counts) { return count_by_blocks(a, shape, counts); });
  }
};

}  // namespace upsweep::ladders::partition
