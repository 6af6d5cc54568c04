// Totals of all blocks in global memory, 32 bits each, which become the caller's counters at the end.
#pragma once
#include "kernel/ptx.h"
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

// Returns [counters + 1 + extra] totals, all zero; write_out() zeroes them again. Null: no memory.
template <class T, class O>
unsigned* zeroed_totals(const Args<T, O>& a, unsigned extra = 0) {
  return a.workspace->counters(a.in.counters() + 1 + extra);
}

// Writes the caller's counters from the totals, and zeroes these.
static __global__ void write_result(unsigned* totals,  // [words], words > counters
                                    Output out, unsigned counters, unsigned words) {
  const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  allow_next_launch();
  wait_for_previous();
  if (k >= words) return;
  if (k < counters)
    out.put(k, totals[k]);
  else if (k == counters)
    out.put_outside(totals[k]);
  totals[k] = 0;
}

template <class T, class O>
Status write_out(const Args<T, O>& a, unsigned* totals, unsigned extra = 0) {
  constexpr unsigned block = 256;
  const unsigned counters = a.in.counters(), words = counters + 1 + extra;
  return launch(write_result, {.grid = (words - 1) / block + 1, .block = block, .overlap = true, .stream = a.stream},
                totals, a.out, counters, words);
}

}  // namespace upsweep::ladders::histogram
