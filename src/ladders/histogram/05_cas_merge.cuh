// histogram/cas_merge: blocks merge by compare-and-swap, in no order.
//
// No block waits for another. No atomic addition saturates, so each counter is merged in a compare-and-swap loop.
// Blocks that merge the same counter concurrently retry.
//
// Traffic   n reads, coalesced; a compare-and-swap per nonzero counter and block, two if the total is not zero, more on
//           retries; totals read once.
// Order     any.
// Source    Herlihy, Wait-Free Synchronization, 1991.
#pragma once
#include "ladders/histogram/totals.cuh"

namespace upsweep::ladders::histogram {

// Adds `count` to `*total`, which saturates at `top`.
static __device__ void add_saturating(unsigned* total, unsigned count, unsigned top) {
  unsigned seen = atomicCAS(total, 0u, count < top ? count : top), expected;
  if (seen == 0) return;
  do {
    expected = seen;
    if (expected == top) return;
    const unsigned sum = count < top - expected ? expected + count : top;
    seen = atomicCAS(total, expected, sum);
  } while (seen != expected);
}

template <class T, class O>
__global__ void cas_merge_kernel(Input<T, O> in, unsigned* totals,  // [counters + 1], zero
                                 unsigned top) {
  unsigned* const counts = dynamic_shared<unsigned>();  // [padded_slot(counters) + 1]
  count_in_shared(in, counts, blockIdx.x, gridDim.x, padded_slot);
  const unsigned counters = in.counters();
  for (unsigned k = threadIdx.x; k <= counters; k += blockDim.x)
    if (const unsigned count = counts[padded_slot(k)]) add_saturating(&totals[k], count, k < counters ? top : ~0u);
}

struct cas_merge {
  static constexpr Story story{.idea = "blocks merge by saturating compare-and-swap, in no order",
                               .prediction = "no sequential merges: faster than ordered_writeback on small inputs",
                               .guarantees = "counts are exact",
                               .limits = "as padded; two launches",
                               .source = "Herlihy, Wait-Free Synchronization, 1991"};
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned bytes = padded_bytes(a.in.counters());
    if (bytes > most_shared()) return too_many_counters;
    const auto top = static_cast<unsigned>(a.out.top() < ~0u ? a.out.top() : ~0u);
    const Shape shape{
        .grid = a.tuning.grid_or(32), .block = a.tuning.block_or(32), .shared_bytes = bytes, .stream = a.stream};
    return by_totals(a, [&](unsigned* totals) { return launch(cas_merge_kernel<T, O>, shape, a.in, totals, top); });
  }
};

}  // namespace upsweep::ladders::histogram
