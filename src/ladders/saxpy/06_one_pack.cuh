// saxpy/one_pack: one 16-byte pack per thread, in small blocks, without a loop.
//
// Without a loop, no load waits for an earlier iteration's store. A block of 128 threads finishes and is replaced while
// other blocks' loads are in flight, so the block scheduler keeps memory busy, as the earlier rungs do by hand.
// Programmatic stream serialization lets the first blocks start before the previous kernel in the stream has finished.
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
  map_ends(split, out, n, f, in...);  // last, so that no pack's load waits for these loops
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
  // Threads per block. GB/s of a kernel of this shape on an H200, f32, with a separate output:
  //                           2^28  2^30
  //   128 threads per block   4406  4419
  //   256                     4401  4413
  //   two packs per thread    4387  4404
  //   four                    4359  4370
  static constexpr unsigned default_block = 128;

  // Computes out[i] = f(in[i]...). All arrays have the same type.
  template <class T, class F, class... In>
  static Status map(const Tuning& tuning, Stream stream, T* out, std::size_t n, F f, const In*... in) {
    if (tuning.grid != 0) return {Code::unsupported, 0, "one_pack chooses its own grid: one thread per pack"};
    const auto block = tuning.block_or(default_block);
    const std::size_t blocks = ceil_div(n / Pack<T>::size, block);
    const auto grid = static_cast<unsigned>(blocks < 1 ? 1 : blocks);  // if there is no pack, one block for the ends
    return launch(one_pack_kernel<T, F, In...>, {.grid = grid, .block = block, .overlap = true, .stream = stream}, out,
                  n, f, in...);
  }
  template <class T, class>
  static Status run(const Args<T>& a) {
    return map(a.tuning, a.stream, a.out, a.n, a.f, a.x, a.y);
  }
};

}  // namespace upsweep::ladders::saxpy
