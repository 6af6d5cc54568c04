// partition/coarsened: a resident grid, in which every thread loops over many keys.
//
// Both kernels run grid-stride loops on a resident grid. Tables are cleared and merged once per block, however many
// keys there are.
//
// Traffic   as baseline, with one L2 atomic per resident block and bucket in place of one per key counted.
// Order     any within a bucket.
// Source    Gomez-Luna et al., An Optimized Approach to Histogram Computation on GPU, 2013.
#pragma once
#include "ladders/partition/add_up.cuh"

namespace upsweep::ladders::partition {

struct coarsened {
  static constexpr Story story{.idea = "a grid-stride loop on a resident grid: one table per resident block",
                               .prediction = "counting near the read ceiling; the atomics that assign offsets remain",
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
