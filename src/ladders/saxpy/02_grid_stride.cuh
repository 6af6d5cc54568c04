// saxpy/grid_stride: as many threads as the device holds, each walking the array in steps of the grid.
//
// The blocks stay, so none has to be placed while the kernel runs, and the grid no longer depends on n. But a thread
// has one element on its way at a time: a multiprocessor's 2048 threads ask for 16 KB, where the memory's latency wants
// twice that.
//
// Traffic   as naive.
// Order     none.
// Source    Harris, CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops, 2013.
#pragma once
#include "ladders/saxpy/packs.cuh"

namespace upsweep::ladders::saxpy {

template <class T, class F, class... In>
__global__ void grid_stride_kernel(T* out, std::size_t n, F f, const In*... in) {
  map_elements(out, n, f, in...);
}

struct grid_stride {
  static constexpr Story story{.idea = "a grid that fits the device walks the array",
                               .prediction =
                                   "three quarters of naive when n is large: 16 KB in flight a "
                                   "multiprocessor, and a loop to go round",
                               .guarantees = "rounded once",
                               .limits = "any n",
                               .source = "Harris, Grid-Stride Loops, 2013"};
  // out[i] = f(in[i]...), of arrays of any types.
  template <class T, class F, class... In>
  static Status map(const Tuning& tuning, Stream stream, T* out, std::size_t n, F f, const In*... in) {
    const auto block = tuning.block_or(256);
    const unsigned most = unsigned(device_limits().multiprocessors) * 8;  // 2048 threads a multiprocessor
    const std::size_t wanted = ceil_div(n, block);
    const auto grid = tuning.grid_or(wanted < 1 ? 1 : wanted < most ? wanted : most);
    return launch(grid_stride_kernel<T, F, In...>, {.grid = grid, .block = block, .stream = stream}, out, n, f, in...);
  }
  template <class T, class>
  static Status run(const Args<T>& a) {
    return map(a.tuning, a.stream, a.out, a.n, a.f, a.x, a.y);
  }
};

}  // namespace upsweep::ladders::saxpy
