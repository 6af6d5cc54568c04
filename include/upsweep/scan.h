// Scans: out[i] = in[0] op ... op in[i-1] (exclusive; the neutral element for i = 0) or with in[i] (inclusive); and
// segmented ones, which begin anew where a segment does.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>

#include "upsweep/buffer.h"
#include "upsweep/device.h"
#include "upsweep/types.h"

namespace upsweep {

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
// n), out_of_memory, device_error. Integer sums wrap. The last bits of float sums depend on the rung and the device,
// on a CPU also on the number of cores and the output's alignment, and on a GPU may differ from call to call, unless
// the rung says otherwise.
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

// ---- segmented ------------------------------------------------------------------------------------------------------

namespace detail {
// How it is said where segments begin; the values are those of the ladder's parameter `heads`.
enum class HeadsAre : int { flags = 0, keys = 1, offsets = 2 };
struct HeadsView {
  HeadsAre kind;
  const void* data;
  std::size_t count;
};
template <class T>
concept HeadElement = std::same_as<T, std::uint8_t> || std::same_as<T, std::uint64_t>;
template <HeadElement T>
constexpr HeadsView heads_view(const T* data, std::size_t count) {
  return {sizeof(T) == 1 ? HeadsAre::flags : HeadsAre::offsets, data, count};
}
// As scan_host and scan_queued.
void segmented_scan_host(Device& device, ScanKind kind, Type type, Op op, const void* in, std::size_t n,
                         const HeadsView& heads, void* out, std::size_t room, const ScanOptions& options);
void segmented_scan_queued(Device& device, ScanKind kind, Type type, Op op, const void* in, std::size_t n,
                           const HeadsView& heads, void* out, std::size_t room, const ScanOptions& options);

template <class In, class Out>
void segmented_scan_range(Device& device, ScanKind kind, const In& in, const HeadsView& heads, Out& out, Op op,
                          const ScanOptions& options) {
  segmented_scan_host(device, kind, type_of<std::ranges::range_value_t<In>>(), op, std::ranges::data(in),
                      std::ranges::size(in), heads, std::ranges::data(out), std::ranges::size(out), options);
}
template <class T, class H>
void segmented_scan_buffer(Device& device, ScanKind kind, const Buffer<T>& in, const Buffer<H>& heads,
                           const HeadsView& view, Buffer<T>& out, Op op, const ScanOptions& options) {
  in.memory().require_on(device, "the input");
  heads.memory().require_on(device, "the heads");
  out.memory().require_on(device, "the output");
  segmented_scan_queued(device, kind, type_of<T>(), op, in.data(), in.size(), view, out.data(), out.size(), options);
}
}  // namespace detail

// A scan of each segment by itself. `heads` says where they begin, by its element type: std::uint8_t are flags, at
// least one an element of `in`, not 0 where a segment begins; std::uint64_t are offsets, ascending: segment k is
// in[heads[k]] to before in[heads[k + 1]], and offsets from n on begin nothing (so the row offsets of a sparse matrix
// will do). Element 0 begins one in any case. Everything else as in exclusive_scan() and inclusive_scan(), of ranges in
// host memory and of buffers alike; options.rung is of the ladder segmented_scan. Throws Error as they do, and
// invalid_argument where there are fewer flags than elements.
template <std::ranges::contiguous_range In, std::ranges::contiguous_range Heads,
          detail::RangeOf<std::ranges::range_value_t<In>> Out>
requires ScanElement<std::ranges::range_value_t<In>> && detail::HeadElement<std::ranges::range_value_t<Heads>>
void segmented_exclusive_scan(Device& device, const In& in, const Heads& heads, Out&& out, Op op = Op::sum,
                              const ScanOptions& options = {}) {
  detail::segmented_scan_range(device, detail::ScanKind::exclusive, in,
                               detail::heads_view(std::ranges::data(heads), std::ranges::size(heads)), out, op,
                               options);
}
template <std::ranges::contiguous_range In, std::ranges::contiguous_range Heads,
          detail::RangeOf<std::ranges::range_value_t<In>> Out>
requires ScanElement<std::ranges::range_value_t<In>> && detail::HeadElement<std::ranges::range_value_t<Heads>>
void segmented_inclusive_scan(Device& device, const In& in, const Heads& heads, Out&& out, Op op = Op::sum,
                              const ScanOptions& options = {}) {
  detail::segmented_scan_range(device, detail::ScanKind::inclusive, in,
                               detail::heads_view(std::ranges::data(heads), std::ranges::size(heads)), out, op,
                               options);
}
template <ScanElement T, detail::HeadElement H>
void segmented_exclusive_scan(Device& device, const Buffer<T>& in, const Buffer<H>& heads, Buffer<T>& out,
                              Op op = Op::sum, const ScanOptions& options = {}) {
  detail::segmented_scan_buffer(device, detail::ScanKind::exclusive, in, heads,
                                detail::heads_view(heads.data(), heads.size()), out, op, options);
}
template <ScanElement T, detail::HeadElement H>
void segmented_inclusive_scan(Device& device, const Buffer<T>& in, const Buffer<H>& heads, Buffer<T>& out,
                              Op op = Op::sum, const ScanOptions& options = {}) {
  detail::segmented_scan_buffer(device, detail::ScanKind::inclusive, in, heads,
                                detail::heads_view(heads.data(), heads.size()), out, op, options);
}

// The same where neighbours of equal key are a segment; keys are std::uint32_t, at least one an element.
template <std::ranges::contiguous_range In, detail::RangeOf<std::uint32_t> Keys,
          detail::RangeOf<std::ranges::range_value_t<In>> Out>
requires ScanElement<std::ranges::range_value_t<In>>
void exclusive_scan_by_key(Device& device, const Keys& keys, const In& in, Out&& out, Op op = Op::sum,
                           const ScanOptions& options = {}) {
  detail::segmented_scan_range(device, detail::ScanKind::exclusive, in,
                               {detail::HeadsAre::keys, std::ranges::data(keys), std::ranges::size(keys)}, out, op,
                               options);
}
template <std::ranges::contiguous_range In, detail::RangeOf<std::uint32_t> Keys,
          detail::RangeOf<std::ranges::range_value_t<In>> Out>
requires ScanElement<std::ranges::range_value_t<In>>
void inclusive_scan_by_key(Device& device, const Keys& keys, const In& in, Out&& out, Op op = Op::sum,
                           const ScanOptions& options = {}) {
  detail::segmented_scan_range(device, detail::ScanKind::inclusive, in,
                               {detail::HeadsAre::keys, std::ranges::data(keys), std::ranges::size(keys)}, out, op,
                               options);
}
template <ScanElement T>
void exclusive_scan_by_key(Device& device, const Buffer<std::uint32_t>& keys, const Buffer<T>& in, Buffer<T>& out,
                           Op op = Op::sum, const ScanOptions& options = {}) {
  detail::segmented_scan_buffer(device, detail::ScanKind::exclusive, in, keys,
                                {detail::HeadsAre::keys, keys.data(), keys.size()}, out, op, options);
}
template <ScanElement T>
void inclusive_scan_by_key(Device& device, const Buffer<std::uint32_t>& keys, const Buffer<T>& in, Buffer<T>& out,
                           Op op = Op::sum, const ScanOptions& options = {}) {
  detail::segmented_scan_buffer(device, detail::ScanKind::inclusive, in, keys,
                                {detail::HeadsAre::keys, keys.data(), keys.size()}, out, op, options);
}

}  // namespace upsweep
