// The last step of run_length_encode, for rungs that find where runs begin, and a limit that all rungs share.
#pragma once
#include "kernel/kernel.h"
#include "ladders/select/passes.cuh"

namespace upsweep::ladders::select {

// Intermediate ranks and positions have 32 bits.
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
  // Only the device knows the number of runs: launch enough threads to fill it, each for several runs.
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
