// 32-bit totals over all blocks, in global memory, from which the caller's counters are written at the end.
#pragma once
#include "kernel/ptx.h"
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

// Writes the caller's counters from the totals, and zeroes the totals.
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

// Calls count(totals), which launches a kernel that adds to [counters + 1 + extra] totals, initially zero;
// totals[counters] is for samples in no bin. Then launches write_result(), which writes the caller's counters and
// zeroes the totals.
template <class T, class O, class F>
Status by_totals(const Args<T, O>& a, F&& count, unsigned extra = 0) {
  constexpr unsigned block = 256;
  const unsigned counters = a.in.counters(), words = counters + 1 + extra;
  unsigned* const totals = a.workspace->counters(words);
  if (!totals) return no_memory;
  if (Status s = count(totals); !s) return s;
  return launch(write_result, {.grid = (words - 1) / block + 1, .block = block, .overlap = true, .stream = a.stream},
                totals, a.out, counters, words);
}

}  // namespace upsweep::ladders::histogram
