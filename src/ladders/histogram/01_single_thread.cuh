// histogram/single_thread: one thread counts everything.
//
// Traffic   n reads of one element, one sector each; n reads and n writes of counters.
// Order     that of the samples.
// Source    the contract.
#pragma once
#include "kernel/kernel.h"
#include "ladders/histogram/contract.h"

namespace upsweep::ladders::histogram {

template <class T, class O>
__global__ void single_thread_kernel(Input<T, O> in, Output out) {
  const unsigned counters = in.counters();
  if (!out.adds)
    for (unsigned k = 0; k < counters; ++k) out.put(k, 0);
  std::uint64_t outside = 0;
  Output more = out;
  more.adds = true;
  for (std::size_t i = 0; i < in.samples.count; ++i) {
    const unsigned k = in.counter_of(i);
    if (k < counters)
      more.put(k, 1);  // saturates
    else
      ++outside;
  }
  out.put_outside(outside);
}

struct single_thread {
  static constexpr Story story{.idea = "one thread, one counter in global memory incremented per sample",
                               .prediction = "a round trip to memory per sample: a microsecond each",
                               .guarantees = "counts are exact",
                               .limits = "any n, any counter; one block of one thread",
                               .source = "the contract"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return launch(single_thread_kernel<T, O>, {.grid = 1, .block = 1, .stream = a.stream}, a.in, a.out);
  }
};

}  // namespace upsweep::ladders::histogram
