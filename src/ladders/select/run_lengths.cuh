// The last step of run_length_encode, for rungs that only find where runs begin, and the limit of 32-bit positions.
#pragma once
#include "kernel/kernel.h"
#include "ladders/select/passes.cuh"

namespace upsweep::ladders::select {

// Maximum n of kernels whose ranks and positions have 32 bits.
inline constexpr std::size_t largest_narrow = 0xffffffffu;

// Computes the runs' lengths from the positions of their first elements.
template <class T>
__global__ void lengths_kernel(const unsigned* heads,  // [count]
                               Output<T> out, std::size_t n) {
  const std::size_t count = *out.count, step = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t r = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; r < count; r += step)
    out.positions.put(r, (r + 1 < count ? heads[r + 1] : n) - heads[r]);
}

template <class T>
Status lengths_of_runs(const unsigned* heads, const Output<T>& out, std::size_t n, Stream stream) {
  constexpr unsigned threads = 256;
  // The number of runs is known only on the device, so launch at most as many threads as can be resident, in a
  // grid-stride loop.
  const std::size_t fill = std::size_t(machine().multiprocessors) * machine().threads_per_multiprocessor / threads;
  const std::size_t most = ceil_div(n, threads);
  return launch(lengths_kernel<T>,
                {.grid = static_cast<unsigned>(most < 1      ? 1
                                               : most < fill ? most
                                                             : fill),
                 .block = threads,
                 .stream = stream},
                heads, out, n);
}

}  // namespace upsweep::ladders::select
