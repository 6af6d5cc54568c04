// saxpy/grid_stride: as many threads as are resident, each in a grid-stride loop over the array.
//
// The blocks stay resident, so none has to be started while the kernel runs, and the grid no longer depends on n. But
// each thread has one element in flight at a time: a multiprocessor's 2048 threads request 16 KB, and the memory
// latency calls for twice that.
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
  static constexpr Story story{.idea = "a grid-stride loop, by a grid that fits the device",
                               .prediction =
                                   "three quarters of naive when n is large: 16 KB in flight per "
                                   "multiprocessor, and the overhead of a loop",
                               .guarantees = "rounded once",
                               .limits = "any n",
                               .source = "Harris, Grid-Stride Loops, 2013"};
  // out[i] = f(in[i]...), for arrays of any types.
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
