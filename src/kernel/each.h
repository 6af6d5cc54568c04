// Runs a function for every index below n, one thread per index; for small n.
#pragma once
#include "kernel/kernel.h"

namespace upsweep {

template <class F>
__global__ void each_kernel(unsigned n, F f) {
  const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) f(k);
}

// Queues f(k) for each k < n. `f` is plain data, callable on the device.
template <class F>
Status for_each_index(const Execution& execution, unsigned n, const F& f) {
  constexpr unsigned block = 256;
  return launch(each_kernel<F>,
                {.grid = static_cast<unsigned>(ceil_div(n, block)), .block = block, .stream = execution.stream}, n, f);
}

}  // namespace upsweep
