// Wrong on purpose: the elements after the last whole 16-byte pack are skipped.
//
// Must be caught: poison at the end of out, at every n that is not a multiple of the pack size.
#pragma once
#include "ladders/saxpy/packs.cuh"

namespace upsweep::ladders::saxpy {

template <class T, class F, class... In>
__global__ void dropped_tail_kernel(T* out,  // [n]
                                    std::size_t n, F f,
                                    const In*... in) {  // [n] each
  const PackSplit<T> split(out, n);
  const std::size_t i = thread_of_grid();
  if (i < split.head) out[i] = f(in[i]...);
  for (std::size_t e = i; e < split.packs * Pack<T>::size; e += threads_of_grid())
    out[split.head + e] = f(in[split.head + e]...);
}

struct dropped_tail {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "a vectorised loop without its tail",
                               .prediction = "poison at the end of out at every n that is not a multiple of a pack"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    return launch(dropped_tail_kernel<T, Axpy<T>, T, T>, {.grid = 4, .block = 128, .stream = a.stream}, a.out, a.n, a.f,
                  a.x, a.y);
  }
};

}  // namespace upsweep::ladders::saxpy
