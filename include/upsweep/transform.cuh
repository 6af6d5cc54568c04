// transform on a GPU: out[i] = f(in[i]...), with a function of one's own, of any number of inputs: for a .cu, which
// links upsweep::kernels.
#pragma once
#include <concepts>
#include <string>

#include "saxpy/06_one_pack.cuh"
#include "upsweep/device_call.cuh"
#include "upsweep/transform.h"

namespace upsweep {

namespace detail {
// Whole packs, where there are such.
template <class T, class... In>
using TransformRung = std::conditional_t<(std::same_as<In, T> && ...) && 16 % sizeof(T) == 0, ladders::saxpy::one_pack,
                                         ladders::saxpy::grid_stride>;
}  // namespace detail

// out[i] = f(in[i]...) for every element of the inputs, which have as many each; `out` has at least as many, and may be
// one of them. f is callable on the device, a struct or a __device__ lambda, and copied there, so it may carry values
// but no host memory:
//   upsweep::transform(gpu, out, [=] __device__(float r, float g, float b) { return w * r + v * g + u * b; }, r, g, b);
// Inputs of the output's type go 16 bytes at a time, where 16 is a multiple of its size; all others element by element.
// Queued on the device's stream and capturable; nothing is allocated. Throws Error: invalid_argument (buffers of
// another device, sizes that differ, `out` too small), unsupported (the device is no GPU), device_error.
template <class T, class F, class First, class... Rest>
void transform(Device& device, Buffer<T>& out, F f, const Buffer<First>& first, const Buffer<Rest>&... rest) {
  first.memory().require_on(device, "the input");
  (rest.memory().require_on(device, "the input"), ...);
  out.memory().require_on(device, "the output");
  const std::size_t n = first.size();
  if (((rest.size() != n) || ...)) throw Error(Code::invalid_argument, "transform: the inputs' sizes differ");
  if (out.size() < n)
    throw Error(Code::invalid_argument, "transform: the output has " + std::to_string(out.size()) +
                                            " elements, the inputs " + std::to_string(n));
  detail::require_kernels_on(device, "transform", "std::transform");

  using Rung = detail::TransformRung<T, First, Rest...>;
  detail::require_success(Rung::map(Params(), device.stream(), out.data(), n, f, first.data(), rest.data()...),
                          "transform");
}

}  // namespace upsweep
