// saxpy/one_pack: one pack a thread, and as many small blocks as that needs.
//
// Nothing is in a loop, so nothing waits for the store of the round before, and a block of 128 threads is gone and
// replaced while its neighbours' loads are on their way: the scheduler of blocks does what the rungs above do by hand.
// Launched with programmatic stream serialization, so that its first blocks are placed while the previous kernel of the
// stream ends.
//
// Traffic   as vec16.
// Order     none.
// Source    NVIDIA CUDA Programming Guide, Programmatic Dependent Launch, 2022.
#pragma once
#include "ladders/saxpy/packs.cuh"

namespace upsweep::ladders::saxpy {

template <class T, class F, class... In>
__global__ void __launch_bounds__(1024) one_pack_kernel(T* out,  // [n]
                                                        std::size_t n, F f,
                                                        const In*... in) {  // [n] each
  allow_next_launch();
  wait_for_previous();
  if (!aligned_alike(out, in...)) return map_elements(out, n, f, in...);
  const PackSplit<T> split(out, n);
  map_ends(split, out, n, f, in...);
  const std::size_t pack = thread_of_grid(), at = split.head + pack * Pack<T>::size;
  if (pack < split.packs) store_pack(out + at, map(load_row<T>(at, in...), f));
}

struct one_pack {
  static constexpr Story story{.idea = "one pack a thread in blocks of 128, launched while the previous kernel ends",
                               .prediction =
                                   "the triad ceiling when n is large; a microsecond less than vec16 in a "
                                   "stream of kernels",
                               .guarantees = "rounded once",
                               .limits = "any n; the grid follows n; fast where the arrays are aligned alike",
                               .source = "CUDA Programming Guide, Programmatic Dependent Launch, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  // A kernel of this shape at 2^28 and 2^30 floats, apart, on an H200: 128 threads 4406 and 4419 GB/s, 256 4401 and
  // 4413. Two packs a thread 4387 and 4404, four 4359 and 4370.
  static constexpr unsigned default_block = 128;

  // out[i] = f(in[i]...), of arrays of one type.
  template <class T, class F, class... In>
  static Status map(const Tuning& tuning, Stream stream, T* out, std::size_t n, F f, const In*... in) {
    if (tuning.grid != 0) return {Code::unsupported, 0, "one_pack has as many threads as packs"};
    const auto block = tuning.block_or(default_block);
    const std::size_t blocks = ceil_div(n / Pack<T>::size, block);
    const auto grid = static_cast<unsigned>(blocks < 1 ? 1 : blocks);  // one for the ends, where there is no pack
    return launch(one_pack_kernel<T, F, In...>, {.grid = grid, .block = block, .overlap = true, .stream = stream}, out,
                  n, f, in...);
  }
  template <class T, class>
  static Status run(const Args<T>& a) {
    return map(a.tuning, a.stream, a.out, a.n, a.f, a.x, a.y);
  }
};

}  // namespace upsweep::ladders::saxpy
