// partition/coarsened: a resident grid, whose threads take many keys each.
//
// As many blocks as are resident go through the keys in steps of the whole grid, in both kernels. Tables are cleared
// and merged once per block, however many keys there are.
//
// Traffic   as baseline, with an atomic addition in L2 per resident block and bucket instead of one per key.
// Order     any within a bucket.
// Source    Gomez-Luna et al., An Optimized Approach to Histogram Computation on GPU, 2013.
#pragma once
#include "ladders/partition/add_up.cuh"
#include "ladders/partition/shared_counts.cuh"

namespace upsweep::ladders::partition {

struct coarsened {
  static constexpr Story story{.idea = "a resident grid in steps of all threads: one table per resident block",
                               .prediction = "counting near the read ceiling; the offsets' atomics are what is left",
                               .guarantees = "offsets are exact; any order within a bucket",
                               .limits = "any n; three launches",
                               .source = "Gomez-Luna et al., An Optimized Approach to Histogram Computation, 2013"};
  static constexpr bool any_order = true;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const Shape shape = resident_shape(a, a.tuning.block_or(1024), 8);
    return by_next_offset(a, shape, [&](Counter* counts) { return count_by_blocks(a, shape, counts); });
  }
};

}  // namespace upsweep::ladders::partition
