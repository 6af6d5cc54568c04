// histogram/until_full: a call with saturating counters ends once all counters are full.
//
// After 1, 4, 16, ... rounds of loads, a block checks whether it has a sample in every bin. If so, it merges its counts
// into the totals and adds the number of counters that it filled to a global count. Once all counters are full, no
// further sample can change the result, and a block stops after its next merge. An input that leaves a bin empty pays
// only for the checks.
//
// Traffic   reads until each block has merged after the last counter filled; n reads if some counter never fills.
// Order     any: a total that has reached `top` never falls below it.
// Source    saturating counters as in the contract; the race on the stop flag is benign, as in Adve, Hill, 1990.
#pragma once
#include "kernel/ptx.h"
#include "ladders/histogram/totals.cuh"
#include "ladders/histogram/word_columns.cuh"

namespace upsweep::ladders::histogram {

// Block-wide: adds the table's counts to the totals and clears the table. Returns, per thread, the number of totals
// that the thread's additions raised to `top`.
template <class Table>
__device__ unsigned merge_until(const Table& table, unsigned* words, unsigned* totals, unsigned counters,
                                unsigned top) {
  unsigned filled = 0;
  __syncthreads();
  for (unsigned k = threadIdx.x; k < table.slots; k += blockDim.x)
    if (const unsigned sum = table.sum(words, k)) {
      const unsigned before = atomicAdd(&totals[k], sum);
      filled += k < counters && before < top && before + sum >= top;
    }
  __syncthreads();
  table.clear(words);
  return filled;
}

template <Search search, class T, class O>
__global__ void __launch_bounds__(steps_block, 1)
    until_full_kernel(Input<T, O> in, Steps<T> steps, WordColumns table, unsigned top,
                      unsigned* totals) {              // [counters + 2], zero; the last total counts full counters
  unsigned* const words = dynamic_shared<unsigned>();  // [slots][columns]
  const unsigned counters = in.counters();
  unsigned* const all_full = &totals[counters + 1];
  const StepRange share = steps.share(blockIdx.x, gridDim.x);
  allow_next_launch();
  prefetch_first_steps(in.samples, share);
  table.clear(words);
  wait_for_previous();
  __syncthreads();
  unsigned some = packs_at_once<T> * blockDim.x / warp_size;  // steps until the next check
  for (StepRange next{share.from, share.from}; next.to < share.to;) {
    next = {next.to, share.to - next.to < some ? share.to : next.to + some};
    for_each_slot(in.samples, steps, next, slots_of<search>(in), [&](unsigned slot, auto present) {
      if (present) table.count(words, slot);
    });
    if (next.to == share.to) break;
    some = 3 * (next.to - share.from);
    __syncthreads();
    bool seen = true;
    for (unsigned k = threadIdx.x; k < counters; k += blockDim.x) seen &= table.sum(words, k) > 0;
    if (!__syncthreads_and(seen)) continue;
    const unsigned filled = merge_until(table, words, totals, counters, top);
    if (filled) atomicAdd(all_full, filled);
    __syncthreads();
    if (__syncthreads_and(threadIdx.x > 0 || atomicAdd(all_full, 0u) == counters)) return;
  }
  merge_until(table, words, totals, counters, top);
}

struct until_full {
  static constexpr Story story{
      .idea = "blocks that have seen every bin merge early; all stop once every counter is full",
      .prediction = "10 us for 2^27 uniform samples in 1024 u8 counters: 14 times word_columns",
      .guarantees = "counts are exact",
      .limits = "any n; up to 58'111 saturating counters; no count of samples in no bin",
      .source = "the contract: a full counter stays full"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (!may_end_early(a))
      return {Code::unsupported, 0, "until_full needs saturating counters, and cannot count samples in no bin"};
    StepsLaunch<T> plan(a);
    if (!plan.valid()) return not_whole_warps;
    const WordColumns table(a.in.counters() + 1, plan.samples_per_block());
    if (!table.fit()) return too_many_counters;
    plan.shape.shared_bytes = table.bytes();
    const auto top = static_cast<unsigned>(a.out.top());
    return by_totals(
        a,
        [&](unsigned* totals) {
          return by_search(a.in, [&]<Search search>(Chosen<search>) {
            return launch(until_full_kernel<search, T, O>, plan.shape, a.in, plan.steps, table, top, totals);
          });
        },
        1);
  }
};

}  // namespace upsweep::ladders::histogram
