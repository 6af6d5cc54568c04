// saxpy/one_pack: one 16-byte pack per thread, in small blocks, without a loop.
//
// Without a loop, no load waits for an earlier iteration's store. A block of 128 threads finishes and is replaced while
// other blocks' loads are in flight, so the block scheduler does what the rungs above do by hand. Programmatic stream
// serialization lets the first blocks launch while the previous kernel in the stream ends.
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
  const PackSplit<T> split(out, n);
  const std::size_t pack = thread_of_grid(), at = split.head + pack * Pack<T>::size;
  const bool in_packs = aligned_alike(out, in...);
  wait_for_previous();
  if (!in_packs) return map_elements(out, n, f, in...);
  if (pack < split.packs) store_pack(out + at, map(load_row<T>(at, in...), f));
  map_ends(split, out, n, f, in...);  // last, so that no load waits for its loops
}

struct one_pack {
  static constexpr Story story{.idea = "one pack per thread in blocks of 128, launched while the previous kernel ends",
                               .prediction =
                                   "the triad ceiling at large n; a microsecond less than vec16 in a "
                                   "stream of kernels",
                               .guarantees = "rounded once",
                               .limits = "any n; n determines the grid; fast if all addresses agree modulo 16",
                               .source = "CUDA Programming Guide, Programmatic Dependent Launch, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  // GB/s of a kernel of this shape on an H200, with a separate output, at 2^28 and 2^30 floats: 128 threads 4406 and
  // 4419, 256 threads 4401 and 4413; with two packs per thread 4387 and 4404, with four 4359 and 4370.
  static constexpr unsigned default_block = 128;

  // out[i] = f(in[i]...); all arrays have the same type.
  template <class T, class F, class... In>
  static Status map(const Tuning& tuning, Stream stream, T* out, std::size_t n, F f, const In*... in) {
    if (tuning.grid != 0) return {Code::unsupported, 0, "one_pack chooses its own grid: one thread per pack"};
    const auto block = tuning.block_or(default_block);
    const std::size_t blocks = ceil_div(n / Pack<T>::size, block);
    const auto grid = static_cast<unsigned>(blocks < 1 ? 1 : blocks);  // without packs, one block for the ends
    return launch(one_pack_kernel<T, F, In...>, {.grid = grid, .block = block, .overlap = true, .stream = stream}, out,
                  n, f, in...);
  }
  template <class T, class>
  static Status run(const Args<T>& a) {
    return map(a.tuning, a.stream, a.out, a.n, a.f, a.x, a.y);
  }
};

}  // namespace upsweep::ladders::saxpy
