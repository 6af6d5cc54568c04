// histogram/padded: one_block with one unused word after every 32 counters.
//
// Counters whose indices differ by a multiple of 32 share a bank of shared memory, so a warp that increments several of
// them has bank conflicts. Padding moves them to different banks.
//
// Traffic   as one_block.
// Order     any.
// Source    Harris, Sengupta, Owens, Parallel Prefix Sum (Scan) with CUDA, 2007 (padding by n / 32).
#pragma once
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

template <class T, class O>
__global__ void padded_kernel(Input<T, O> in, Output out) {
  unsigned* const counts = dynamic_shared<unsigned>();  // [padded_slot(counters) + 1]
  count_in_shared(in, counts, 0, 1, padded_slot);
  put_counts(out, counts, in.counters(), padded_slot);
}

struct padded {
  static constexpr Story story{.idea = "one_block, its shared counters padded by one word in 32",
                               .prediction = "ties one_block unless bins 32 apart are hit together",
                               .guarantees = "counts are exact",
                               .limits = "as one_block, with 3 % fewer counters",
                               .source = "Harris, Sengupta, Owens, Parallel Prefix Sum (Scan) with CUDA, 2007"};
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned bytes = padded_bytes(a.in.counters());
    if (bytes > most_shared()) return too_many_counters;
    return launch(padded_kernel<T, O>, {.grid = 1, .block = 32, .shared_bytes = bytes, .stream = a.stream}, a.in,
                  a.out);
  }
};

}  // namespace upsweep::ladders::histogram
