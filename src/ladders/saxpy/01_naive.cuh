// saxpy/naive: one thread per element.
//
// The first kernel that anyone writes. Adjacent lanes access adjacent elements, so every access is coalesced. But each
// of the n threads moves only a few bytes before it retires.
//
// Traffic   x and y read once, out written once; 128 bytes per request for 4-byte elements.
// Order     none: elements are independent.
// Source    NVIDIA CUDA Programming Guide, 2007.
#pragma once
#include "kernel/kernel.h"
#include "ladders/saxpy/contract.h"

namespace upsweep::ladders::saxpy {

template <class T, class F, class... In>
__global__ void naive_kernel(T* out,  // [n]
                             std::size_t n, F f,
                             const In*... in) {  // [n] each
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(in[i]...);
}

struct naive {
  static constexpr Story story{.idea = "one thread per element",
                               .prediction =
                                   "nine tenths of the triad ceiling at large n: a block of 256 threads moves "
                                   "only 3 KB before it is replaced",
                               .guarantees = "rounded once",
                               .limits = "any n; n determines the grid",
                               .source = "CUDA Programming Guide, 2007"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    if (a.n == 0) return {};
    if (a.tuning.grid != 0) return {Code::unsupported, 0, "naive chooses its own grid: one thread per element"};
    const auto block = a.tuning.block_or(256);
    const auto grid = static_cast<unsigned>(ceil_div(a.n, block));
    return launch(naive_kernel<T, Axpy<T>, T, T>, {.grid = grid, .block = block, .stream = a.stream}, a.out, a.n, a.f,
                  a.x, a.y);
  }
};

}  // namespace upsweep::ladders::saxpy
