// Wrong on purpose: assumes that x and y are aligned like out.
//
// Must be caught: a misaligned access, if x or y is aligned differently from out.
#pragma once
#include "ladders/saxpy/packs.cuh"

namespace upsweep::ladders::saxpy {

template <class T, class F, class... In>
__global__ void assumed_alike_kernel(T* out,  // [n]
                                     std::size_t n, F f,
                                     const In*... in) {  // [n] each
  const PackSplit<T> split(out, n);
  map_ends(split, out, n, f, in...);
  for (std::size_t i = thread_of_grid(); i < split.packs; i += threads_of_grid()) {
    const std::size_t at = split.head + i * Pack<T>::size;
    store_pack(out + at, map(load_row<T>(at, in...), f));
  }
}

struct assumed_alike {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "16-byte loads regardless of the inputs' alignment",
                               .prediction = "a misaligned access, if x or y is aligned differently from out"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    return launch(assumed_alike_kernel<T, Axpy<T>, T, T>, {.grid = 4, .block = 128, .stream = a.stream}, a.out, a.n,
                  a.f, a.x, a.y);
  }
};

}  // namespace upsweep::ladders::saxpy
