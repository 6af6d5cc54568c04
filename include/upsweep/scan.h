// Scans: out[i] = in[0] op ... op in[i-1] (exclusive; the neutral element for i = 0) or with in[i] (inclusive).
#pragma once
#include <concepts>
#include <cstddef>
#include <ranges>
#include <string>
#include <string_view>

#include "upsweep/buffer.h"
#include "upsweep/device.h"
#include "upsweep/types.h"

namespace upsweep {

// The element types that the library is compiled for: integers of 8 to 64 bits, float and double.
template <class T>
concept ScanElement = Element<T>;

struct ScanOptions {
  std::string_view rung = {};  // a rung of the scan ladder by name; empty: the fastest
};

namespace detail {
enum class ScanKind : bool { exclusive, inclusive };
// `in` and `out` are host memory; waits for the result.
void scan_host(Device& device, ScanKind kind, Type type, Op op, const void* in, std::size_t n, void* out,
               std::size_t room, const ScanOptions& options);
// `in` and `out` are the device's memory; returns when the work is queued.
void scan_queued(Device& device, ScanKind kind, Type type, Op op, const void* in, std::size_t n, void* out,
                 std::size_t room, const ScanOptions& options);

template <class T>
void scan_buffer(Device& device, ScanKind kind, const Buffer<T>& in, Buffer<T>& out, Op op,
                 const ScanOptions& options) {
  in.memory().require_on(device, "the input");
  out.memory().require_on(device, "the output");
  scan_queued(device, kind, type_of<T>(), op, in.data(), in.size(), out.data(), out.size(), options);
}
}  // namespace detail

// The scan of a contiguous range in host memory into another; on a GPU through copies. `out` has at least as many
// elements as `in`, and is either the same memory or does not overlap it. Operators: sum, min, max. Throws Error:
// invalid_argument (no rung of that name, `out` too small), unsupported (the rung does not take this type, operator or
// n), out_of_memory, device_error. Integer sums wrap. Float sums depend on the rung and the device, and on a GPU may
// differ in the last bits from call to call, unless the rung says otherwise.
template <std::ranges::contiguous_range In, detail::RangeOf<std::ranges::range_value_t<In>> Out>
requires ScanElement<std::ranges::range_value_t<In>>
void exclusive_scan(Device& device, const In& in, Out&& out, Op op = Op::sum, const ScanOptions& options = {}) {
  detail::scan_host(device, detail::ScanKind::exclusive, type_of<std::ranges::range_value_t<In>>(), op,
                    std::ranges::data(in), std::ranges::size(in), std::ranges::data(out), std::ranges::size(out),
                    options);
}
template <std::ranges::contiguous_range In, detail::RangeOf<std::ranges::range_value_t<In>> Out>
requires ScanElement<std::ranges::range_value_t<In>>
void inclusive_scan(Device& device, const In& in, Out&& out, Op op = Op::sum, const ScanOptions& options = {}) {
  detail::scan_host(device, detail::ScanKind::inclusive, type_of<std::ranges::range_value_t<In>>(), op,
                    std::ranges::data(in), std::ranges::size(in), std::ranges::data(out), std::ranges::size(out),
                    options);
}

// The same of a buffer, which may be `out` too. Queued on the device's stream: errors of the kernel appear at the next
// synchronize(). After the first call of a size nothing is allocated and nothing waits (but for the rung host_totals),
// so the call can be captured in a CUDA graph.
template <ScanElement T>
void exclusive_scan(Device& device, const Buffer<T>& in, Buffer<T>& out, Op op = Op::sum,
                    const ScanOptions& options = {}) {
  detail::scan_buffer(device, detail::ScanKind::exclusive, in, out, op, options);
}
template <ScanElement T>
void inclusive_scan(Device& device, const Buffer<T>& in, Buffer<T>& out, Op op = Op::sum,
                    const ScanOptions& options = {}) {
  detail::scan_buffer(device, detail::ScanKind::inclusive, in, out, op, options);
}

}  // namespace upsweep
