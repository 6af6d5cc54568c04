// saxpy: out[i] = a * x[i] + y[i]; and where to find the general transform, out[i] = f(in[i]...):
// upsweep/transform.cuh.
#pragma once
#include <concepts>
#include <cstddef>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

#include "upsweep/buffer.h"
#include "upsweep/device.h"
#include "upsweep/types.h"

namespace upsweep {

struct SaxpyOptions {
  std::string_view rung = {};  // a rung of the saxpy ladder by name; empty: the fastest
};

namespace detail {
struct SaxpyArrays {
  const void* x;
  std::size_t x_size;  // elements, as the others
  const void* y;
  std::size_t y_size;
  void* out;
  std::size_t out_size;
};
// The arrays are host memory; waits for the result. `a` points to one element.
void saxpy_host(Device& device, Type type, const void* a, const SaxpyArrays& arrays, const SaxpyOptions& options);
// The arrays are the device's memory; returns when the work is queued.
void saxpy_queued(Device& device, Type type, const void* a, const SaxpyArrays& arrays, const SaxpyOptions& options);
}  // namespace detail

// out = a x + y of contiguous ranges in host memory; on a GPU through copies, chunk by chunk where its memory does not
// hold x and y (rung from_host_pipelined, which is also the fastest if the ranges are pinned). x and y have as many
// elements, `out` at least as many; it may be x or y, and otherwise overlaps neither. Integers wrap; floats are rounded
// once (a fused multiply-add) or twice, whichever the processor does faster. Throws Error: invalid_argument (no rung of
// that name, sizes that differ, `out` too small), unsupported (the rung does not take this type), out_of_memory,
// device_error.
template <std::ranges::contiguous_range X, detail::RangeOf<std::ranges::range_value_t<X>> Y,
          detail::RangeOf<std::ranges::range_value_t<X>> Out>
requires Element<std::ranges::range_value_t<X>>
void saxpy(Device& device, std::ranges::range_value_t<X> a, const X& x, const Y& y, Out&& out,
           const SaxpyOptions& options = {}) {
  detail::saxpy_host(device, type_of<std::ranges::range_value_t<X>>(), &a,
                     {std::ranges::data(x), std::ranges::size(x), std::ranges::data(y), std::ranges::size(y),
                      std::ranges::data(out), std::ranges::size(out)},
                     options);
}
// y = a x + y.
template <std::ranges::contiguous_range X, detail::RangeOf<std::ranges::range_value_t<X>> Y>
requires Element<std::ranges::range_value_t<X>>
void saxpy(Device& device, std::ranges::range_value_t<X> a, const X& x, Y&& y, const SaxpyOptions& options = {}) {
  saxpy(device, a, x, y, y, options);
}

// The same of buffers. Queued on the device's stream: errors of the kernel appear at the next synchronize(). Nothing is
// allocated and nothing waits, so the call can be captured in a CUDA graph.
template <Element T>
void saxpy(Device& device, std::type_identity_t<T> a, const Buffer<T>& x, const Buffer<T>& y, Buffer<T>& out,
           const SaxpyOptions& options = {}) {
  x.memory().require_on(device, "x");
  y.memory().require_on(device, "y");
  out.memory().require_on(device, "the output");
  detail::saxpy_queued(device, type_of<T>(), &a, {x.data(), x.size(), y.data(), y.size(), out.data(), out.size()},
                       options);
}
template <Element T>
void saxpy(Device& device, std::type_identity_t<T> a, const Buffer<T>& x, Buffer<T>& y,
           const SaxpyOptions& options = {}) {
  saxpy(device, a, x, y, y, options);
}

}  // namespace upsweep
