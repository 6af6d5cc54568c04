// Wrong on purpose: keys take the next offset of their bucket by an atomic addition, and the rung claims to be stable.
//
// Must be caught: a thread takes every 64th key, and nothing makes the threads wait for each other. The offsets are
// right, and so are the buckets' keys; their order is not.
#pragma once
#include "ladders/partition/add_up.cuh"
#include "ladders/partition/shared_counts.cuh"

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
