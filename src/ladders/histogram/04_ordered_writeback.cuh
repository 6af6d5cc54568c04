// histogram/ordered_writeback: 32 blocks count, then merge into the result one after another, in block order.
//
// Block b waits until block b - 1 has merged, adds its counts to the result with saturation, and releases block b + 1.
// Only one block writes at any time, so plain loads and stores suffice.
//
// Traffic   n reads, coalesced; the counters read and written 32 times.
// Order     blocks merge in block order; saturating additions give the same result in any order.
// Source    Yan, Long, Zhang, StreamScan, 2013 (a block waits for its neighbour).
#pragma once
#include "kernel/ptx.h"
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

template <class T, class O>
__global__ void ordered_writeback_kernel(Input<T, O> in, Output out,
                                         unsigned long long* merged) {  // [1]: merged blocks; zero on entry and exit
  unsigned* const counts = dynamic_shared<unsigned>();                  // [padded_slot(counters) + 1]
  count_in_shared(in, counts, blockIdx.x, gridDim.x, padded_slot);
  if (threadIdx.x == 0) {
    while (load_relaxed(merged) != blockIdx.x) spin_hint();
    __threadfence();
  }
  __syncthreads();
  out.adds |= blockIdx.x > 0;
  put_counts(out, counts, in.counters(), padded_slot);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    store_relaxed(merged, blockIdx.x + 1 < gridDim.x ? blockIdx.x + 1 : 0);
  }
}

struct ordered_writeback {
  static constexpr Story story{.idea = "32 blocks of 32 threads; each merges after its predecessor",
                               .prediction = "up to 32x padded on large inputs; 32 sequential merges on small ones",
                               .guarantees = "counts are exact",
                               .limits = "as padded; 32 blocks of 32 threads",
                               .source = "Yan, Long, Zhang, StreamScan, 2013"};
  static constexpr bool blocks_in_order = true;
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned bytes = padded_bytes(a.in.counters());
    if (bytes > most_shared()) return too_many_counters;
    auto* const merged = reinterpret_cast<unsigned long long*>(a.workspace->counters(2));
    if (!merged) return no_memory;
    return launch(ordered_writeback_kernel<T, O>, {.grid = 32, .block = 32, .shared_bytes = bytes, .stream = a.stream},
                  a.in, a.out, merged);
  }
};

}  // namespace upsweep::ladders::histogram
