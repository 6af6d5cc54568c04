// Totals of all blocks in global memory, 32 bits each, which become the caller's counters at the end.
#pragma once
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

// Returns [counters + 1] totals, all zero; the kernel that writes the result must zero them again. Null: no memory.
template <class T, class O>
unsigned* zeroed_totals(const Args<T, O>& a) {
  return a.workspace->counters(a.in.counters() + 1);
}

// Writes the caller's counters from the totals, and zeroes these.
static __global__ void write_result(unsigned* totals,  // [counters + 1]
                                    Output out, unsigned counters) {
  const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k > counters) return;
  if (k < counters)
    out.put(k, totals[k]);
  else
    out.put_outside(totals[k]);
  totals[k] = 0;
}

template <class T, class O>
Status write_out(const Args<T, O>& a, unsigned* totals) {
  constexpr unsigned block = 256;
  const unsigned counters = a.in.counters();
  return launch(write_result, {.grid = counters / block + 1, .block = block, .stream = a.stream}, totals, a.out,
                counters);
}

}  // namespace upsweep::ladders::histogram
