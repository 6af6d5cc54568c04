// saxpy/in_flight: each thread issues several loads before it uses the first.
//
// Little's law: bandwidth is bytes in flight over latency. The compiler cannot hoist a load above an earlier store that
// may alias it, so in a plain loop each thread has one row in flight (a pack of every input). This kernel loads four
// rows before its first store.
//
// Traffic   as vec16.
// Order     none.
// Source    Volkov, Better Performance at Lower Occupancy, 2010.
#pragma once
#include "ladders/saxpy/packs.cuh"

namespace upsweep::ladders::saxpy {

template <unsigned InFlight, class T, class F, class... In>
__global__ void __launch_bounds__(1024) in_flight_kernel(T* out,  // [n]
                                                         std::size_t n, F f,
                                                         const In*... in) {  // [n] each
  if (!aligned_alike(out, in...)) return map_elements(out, n, f, in...);
  const PackSplit<T> split(out, n);
  map_ends(split, out, n, f, in...);
  const std::size_t step = threads_of_grid();
  const auto offset = [&](std::size_t pack) { return split.head + pack * Pack<T>::size; };
  for (std::size_t i = thread_of_grid(); i < split.packs; i += InFlight * step) {
    Row<T, sizeof...(In)> rows[InFlight];
#pragma unroll
    for (unsigned k = 0; k < InFlight; ++k)
      if (i + k * step < split.packs) rows[k] = load_row<T>(offset(i + k * step), in...);
#pragma unroll
    for (unsigned k = 0; k < InFlight; ++k)
      if (i + k * step < split.packs) store_pack(out + offset(i + k * step), map(rows[k], f));
  }
}

struct in_flight {
  static constexpr Story story{.idea = "four rows of 16-byte loads in flight per thread",
                               .prediction =
                                   "a few per cent over vec16: 2048 threads with 32 bytes each already exceed "
                                   "what the latency requires",
                               .guarantees = "rounded once",
                               .limits = "any n; fast if all arrays have the same address modulo 16",
                               .source = "Volkov, Better Performance at Lower Occupancy, 2010"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class>
  static Status run(const Args<T>& a) {
    const auto block = a.tuning.block_or(512);
    const auto grid = a.tuning.grid_or(blocks_for<T>(a.n, block, 1, 2));
    return launch(in_flight_kernel<4, T, Axpy<T>, T, T>, {.grid = grid, .block = block, .stream = a.stream}, a.out, a.n,
                  a.f, a.x, a.y);
  }
};

}  // namespace upsweep::ladders::saxpy
