// partition/shared_histogram: every block counts in shared memory first.
//
// Atomic additions in shared memory stay on the multiprocessor; a block merges each counter that is not 0 by one atomic
// addition in L2. But a block has one key per thread: it clears and merges a table of all buckets for 1024 keys.
//
// Traffic   as baseline, with an atomic addition in L2 per block and bucket that the block has, instead of one per key.
// Order     any within a bucket.
// Source    Podlozhnyuk, Histogram Calculation in CUDA, 2007.
#pragma once
#include "ladders/partition/add_up.cuh"
#include "ladders/partition/shared_counts.cuh"

namespace upsweep::ladders::partition {

struct shared_histogram {
  static constexpr Story story{
      .idea = "baseline, its counters privatised in shared memory, merged by each block",
      .prediction =
          "counting is hidden for few buckets, and slower than baseline's from 1024 on: as many merges as keys",
      .guarantees = "offsets are exact; any order within a bucket",
      .limits = "any n; three launches",
      .source = "Podlozhnyuk, Histogram Calculation in CUDA, 2007"};
  static constexpr bool any_order = true;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    // The largest block: the fewest tables to clear and merge.
    const Shape shape = thread_per_key(a.in.n, a.tuning.block_or(1024), a.stream);
    return by_next_offset(a, shape, [&](Counter* counts) { return count_by_blocks(a, shape, counts); });
  }
};

}  // namespace upsweep::ladders::partition
