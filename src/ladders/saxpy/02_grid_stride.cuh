// saxpy/grid_stride: as many threads as fit on the device, each in a grid-stride loop.
//
// All blocks are resident from the start, so none is launched while the kernel runs, and the grid no longer grows with
// n. But each thread has only one element of x and of y in flight: for f32, the 2048 threads of a multiprocessor have
// 16 KB in flight, half of what it takes to hide the memory latency.
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
  static constexpr Story story{.idea = "a grid-stride loop; all blocks are resident",
                               .prediction =
                                   "three quarters of naive at large n: only 16 KB in flight per "
                                   "multiprocessor, and loop overhead",
                               .guarantees = "rounded once",
                               .limits = "any n",
                               .source = "Harris, Grid-Stride Loops, 2013"};
  // Computes out[i] = f(in[i]...). The arrays may differ in type.
  template <class T, class F, class... In>
  static Status map(const Tuning& tuning, Stream stream, T* out, std::size_t n, F f, const In*... in) {
    const auto block = tuning.block_or(256);
    const unsigned most = unsigned(machine().multiprocessors) * 8;  // 2048 threads per multiprocessor
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
