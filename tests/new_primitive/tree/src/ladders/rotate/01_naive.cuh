// rotate/naive: one thread per element.
//
// Traffic   in read once, out written once.
// Order     none: elements are independent.
#pragma once
#include "kernel/kernel.h"
#include "ladders/rotate/contract.h"

namespace upsweep::ladders::rotate {

template <class T>
__global__ void naive_kernel(const T* in,  // [n]
                             T* out,       // [n]
                             std::size_t n, std::size_t by) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + by < n ? i + by : i + by - n];
}

struct naive {
  static constexpr Story story{.idea = "one thread per element",
                               .prediction = "nine tenths of the copy ceiling when n is large",
                               .limits = "any n; the grid follows n"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    if (a.n == 0) return {};
    if (a.tuning.grid != 0) return {Code::unsupported, 0, "naive chooses its own grid: one thread per element"};
    const auto block = a.tuning.block_or(256);
    const auto grid = static_cast<unsigned>(ceil_div(a.n, block));
    return launch(naive_kernel<T>, {.grid = grid, .block = block, .stream = a.stream}, a.in, a.out, a.n, a.by);
  }
};

}  // namespace upsweep::ladders::rotate
