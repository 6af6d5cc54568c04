// saxpy/vec16: 16-byte loads and stores.
//
// The grid-stride loop, over packs of 16 bytes: for f32, a quarter of the memory instructions and four times the bytes
// in flight per thread (for i8, a sixteenth and 16 times). If the arrays' addresses differ modulo 16, the kernel falls
// back to single elements.
//
// Traffic   as naive, but 512 bytes per request.
// Order     none.
// Source    Harris, CUDA Pro Tip: Increase Performance with Vectorized Memory Access, 2013.
#pragma once
#include "ladders/saxpy/packs.cuh"

namespace upsweep::ladders::saxpy {

template <class T, class F, class... In>
__global__ void __launch_bounds__(1024) vec16_kernel(T* out,  // [n]
                                                     std::size_t n, F f,
                                                     const In*... in) {  // [n] each
  if (!aligned_alike(out, in...)) return map_elements(out, n, f, in...);
  const PackSplit<T> split(out, n);
  map_ends(split, out, n, f, in...);
  for (std::size_t i = thread_of_grid(); i < split.packs; i += threads_of_grid()) {
    const std::size_t at = split.head + i * Pack<T>::size;
    store_pack(out + at, map(load_row<T>(at, in...), f));
  }
}

struct vec16 {
  static constexpr Story story{.idea = "16-byte loads and stores",
                               .prediction = "nine tenths of the triad ceiling at large n",
                               .guarantees = "rounded once",
                               .limits = "any n; fast if all arrays have the same address modulo 16",
                               .source = "Harris, Vectorized Memory Access, 2013"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class>
  static Status run(const Args<T>& a) {
    const auto block = a.tuning.block_or(256);
    const auto grid = a.tuning.grid_or(blocks_for<T>(a.n, block, 1, 8));
    return launch(vec16_kernel<T, Axpy<T>, T, T>, {.grid = grid, .block = block, .stream = a.stream}, a.out, a.n, a.f,
                  a.x, a.y);
  }
};

}  // namespace upsweep::ladders::saxpy
