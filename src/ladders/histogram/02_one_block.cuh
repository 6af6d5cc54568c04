// histogram/one_block: one block of 32 threads counts in shared memory, then writes the counters.
//
// Adjacent lanes read adjacent samples and increment shared counters atomically. There is only one block, so its counts
// are the result, and no global atomics are needed.
//
// Traffic   n reads, coalesced, by one warp; counters written once, coalesced.
// Order     any.
// Source    Podlozhnyuk, Histogram Calculation in CUDA, 2007.
#pragma once
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

template <class T, class O>
__global__ void one_block_kernel(Input<T, O> in, Output out) {
  unsigned* const counts = dynamic_shared<unsigned>();  // [counters + 1]
  const auto slot = [](unsigned k) { return k; };
  count_in_shared(in, counts, 0, 1, slot);
  put_counts(out, counts, in.counters(), slot);
}

struct one_block {
  static constexpr Story story{.idea = "32 threads increment shared counters; each writes a column of the bins",
                               .prediction = "32x single_thread or more: a shared atomic takes tens of nanoseconds",
                               .guarantees = "counts are exact",
                               .limits = "any n; counters that fit in shared memory; one block of 32 threads",
                               .source = "Podlozhnyuk, Histogram Calculation in CUDA, 2007"};
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned bytes = (a.in.counters() + 1) * sizeof(unsigned);
    if (bytes > most_shared()) return too_many_counters;
    return launch(one_block_kernel<T, O>, {.grid = 1, .block = 32, .shared_bytes = bytes, .stream = a.stream}, a.in,
                  a.out);
  }
};

}  // namespace upsweep::ladders::histogram
