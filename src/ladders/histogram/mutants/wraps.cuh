// Wrong on purpose: the total is truncated to the width of the caller's counter instead of saturating.
//
// Must be caught: u8 counts of 256 samples and more.
#pragma once
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

template <class T, class O>
__global__ void wraps_kernel(Input<T, O> in, Output out) {
  unsigned* const counts = dynamic_shared<unsigned>();  // [counters + 1]
  count_in_shared(in, counts, 0, 1, [](unsigned k) { return k; });
  const unsigned counters = in.counters();
  for (unsigned k = threadIdx.x; k < counters; k += blockDim.x) out.put(k, counts[k] & out.top());
  if (threadIdx.x == 0) out.put_outside(counts[counters]);
}

struct wraps {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "u8 and u16 counts that wrap",
                               .prediction = "wrong u8 counts of 256 samples and more"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned bytes = (a.in.counters() + 1) * sizeof(unsigned);
    if (bytes > most_shared()) return too_many_counters;
    return launch(wraps_kernel<T, O>, {.block = 64, .shared_bytes = bytes, .stream = a.stream}, a.in, a.out);
  }
};

}  // namespace upsweep::ladders::histogram
