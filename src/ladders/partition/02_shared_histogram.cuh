// partition/shared_histogram: every block counts in shared memory, then merges its counts.
//
// Shared-memory atomics stay on the multiprocessor; a block merges each nonzero counter with one atomic in L2. But with
// one key per thread, a block clears and merges a table of all buckets for only 1024 keys.
//
// Traffic   as baseline, with one L2 atomic per block and nonempty bucket in place of one per key counted.
// Order     any within a bucket.
// Source    Podlozhnyuk, Histogram Calculation in CUDA, 2007.
#pragma once
#include "ladders/partition/add_up.cuh"

namespace upsweep::ladders::partition {

struct shared_histogram {
  static constexpr Story story{
      .idea = "baseline with counters privatised in shared memory and merged once per block",
      .prediction =
          "counting is hidden with few buckets, and slower than baseline's from 1024 on, with a merge per key",
      .guarantees = "offsets are exact; any order within a bucket",
      .limits = "any n; three launches",
      .source = "Podlozhnyuk, Histogram Calculation in CUDA, 2007"};
  static constexpr bool any_order = true;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    // The largest block, for the fewest tables to clear and merge.
    const Shape shape = thread_per_key(a.in.n, a.tuning.block_or(1024), a.stream);
    return by_next_offset(a, shape, [&](Counter* counts) { return count_by_blocks(a, shape, counts); });
  }
};

}  // namespace upsweep::ladders::partition
