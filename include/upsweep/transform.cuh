// transform on a GPU: out[i] = f(in[i]...) with a user-defined function of any number of inputs, for .cu files that
// link upsweep::kernels.
#pragma once
#include <concepts>
#include <string>

#include "ladders/saxpy/02_grid_stride.cuh"
#include "ladders/saxpy/06_one_pack.cuh"
#include "upsweep/device_call.cuh"
#include "upsweep/transform.h"

namespace upsweep {

namespace detail {
// Uses 16-byte packs if all inputs have the output's type and its size divides 16.
template <class T, class... In>
using TransformRung = std::conditional_t<(std::same_as<In, T> && ...) && 16 % sizeof(T) == 0, ladders::saxpy::one_pack,
                                         ladders::saxpy::grid_stride>;
}  // namespace detail

// out[i] = f(in[i]...) for every i. The inputs must have equal sizes; `out` must have at least as many elements, and
// may be one of the inputs. f is callable on the device (a struct or a __device__ lambda) and copied there, so it may
// hold values but no pointers to host memory:
//   upsweep::transform(gpu, out, [=] __device__(float r, float g, float b) { return w * r + v * g + u * b; }, r, g, b);
// Accesses are 16 bytes wide if all inputs have the output's type and its size divides 16; otherwise they are element
// by element. The call is queued on the device's stream, can be captured, and allocates nothing. Throws Error:
// invalid_argument (host memory or memory of another device; sizes that differ; `out` too small), unsupported (the
// device is not a GPU), device_error.
template <ArrayLike Out, class F, ArrayLike... In>
requires(sizeof...(In) > 0) void transform(Device& device, Out&& out, F f, const In&... in) {
  using T = element_of<Out>;
  detail::require_kernels_on(device, "transform", "std::transform");
  const View<T> to = detail::view_on(device, out, "the output");
  const std::size_t sizes[] = {detail::view_on(device, in, "the input").size()...};
  const std::size_t n = sizes[0];
  for (const std::size_t size : sizes)
    if (size != n) throw Error(Code::invalid_argument, "transform: the inputs' sizes differ");
  if (to.size() < n)
    throw Error(Code::invalid_argument, "transform: the output has " + std::to_string(to.size()) +
                                            " elements, the inputs " + std::to_string(n));
  using Rung = detail::TransformRung<T, input_element<In>...>;
  detail::require_success(Rung::map(Tuning(), device.stream(), to.data(), n, f, view(in).data()...), "transform");
}

}  // namespace upsweep
