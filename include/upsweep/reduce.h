// reduce: op(in[0], ..., in[n-1]) in some order; the operator's neutral element when n is 0.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "upsweep/buffer.h"
#include "upsweep/device.h"
#include "upsweep/types.h"

namespace upsweep {

// The element types that the library is compiled for: 32- and 64-bit integers, float and double.
template <class T>
concept ReduceElement = std::is_arithmetic_v<T> &&(sizeof(T) == 4 || sizeof(T) == 8) && !std::same_as<T, wchar_t> &&
                        !std::same_as<T, char32_t>;

struct ReduceOptions {
  std::string_view rung = {};  // a rung of the reduce ladder by name; empty: the fastest
  unsigned block = 0;          // threads a block, 1 to 1024, and ...
  unsigned grid = 0;           // ... blocks, of a GPU rung; 0: the rung's own choice
  unsigned threads = 0;        // of a CPU rung; 0: all cores
};

namespace detail {

// `in` and `out` are host memory; waits for the result.
void reduce_host(Device& device, Type type, Op op, const void* in, std::size_t n, void* out,
                 const ReduceOptions& options);
// `in` and `out` are the device's memory; returns when the work is queued.
void reduce_queued(Device& device, Type type, Op op, const void* in, std::size_t n, void* out,
                   const ReduceOptions& options);

void require_cpu(const Device& device);
int cores() noexcept;
// run(context, part) for each part in [0, parts), on all cores; waits.
void run_parts_on_cores(int parts, void (*run)(void* context, int part) noexcept, void* context) noexcept;

// in[0..n), n > 0, with op, in order: regrouped, but no two operands change places. Eight runs of 64 elements are
// reduced side by side, because one chain of dependent operations leaves most of a core idle (latency 4 or more, two a
// cycle); runs of 64 keep the eight streams inside 4 KiB for 8-byte elements.
template <class T, class BinaryOp>
T reduce_in_order(const T* in, std::size_t n, BinaryOp& op) {
  constexpr std::size_t runs = 8, length = 64;
  T total = in[0];
  std::size_t i = 1;
  for (; n - i >= runs * length; i += runs * length) [&]<std::size_t... k>(std::index_sequence<k...>) {
      T part[runs]{in[i + k * length]...};
      for (std::size_t j = 1; j < length; ++j) ((part[k] = op(part[k], in[i + k * length + j])), ...);
      ((total = op(total, part[k])), ...);
    }
  (std::make_index_sequence<runs>{});
  for (; i < n; ++i) total = op(total, in[i]);
  return total;
}

}  // namespace detail

// The reduction of a contiguous range in host memory; on a GPU it is copied there first. Throws Error: invalid_argument
// (no rung of that name, an impossible block), unsupported (the rung does not take this type and operator),
// out_of_memory, device_error. Integer sums and products wrap. Float results depend on the rung and the device, unless
// the rung is "reproducible".
template <std::ranges::contiguous_range Range>
requires ReduceElement<std::ranges::range_value_t<Range>> std::ranges::range_value_t<Range> reduce(
    Device& device, const Range& in, Op op = Op::sum, const ReduceOptions& options = {}) {
  using T = std::ranges::range_value_t<Range>;
  T out;
  detail::reduce_host(device, type_of<T>(), op, std::ranges::data(in), std::ranges::size(in), &out, options);
  return out;
}

// out[0] = the reduction of a buffer; out has at least one element. Queued on the device's stream: errors of the kernel
// appear at the next synchronize(). After the first call of a size nothing is allocated and nothing waits, so the call
// can be captured in a CUDA graph.
template <ReduceElement T>
void reduce(Device& device, const Buffer<T>& in, Buffer<T>& out, Op op = Op::sum, const ReduceOptions& options = {}) {
  in.memory().require_on(device, "the input");
  out.memory().require_on(device, "the output");
  if (out.size() == 0) throw Error(Code::invalid_argument, "reduce: the output buffer has no element");
  detail::reduce_queued(device, type_of<T>(), op, in.data(), in.size(), out.data(), options);
}

// A user's own associative operator, on the CPU: op(a, b) is regrouped but its operands are never swapped, so matrix
// products and the like come out right. `neutral` is the result for an empty range. op is called from several threads
// at once; what it throws is thrown again here. (On a GPU: upsweep/reduce.cuh.)
template <std::ranges::contiguous_range Range, std::copyable T, class BinaryOp>
requires std::same_as<T, std::ranges::range_value_t<Range>> && std::invocable<BinaryOp&, const T&, const T&> T
reduce(Device& device, const Range& range, T neutral, BinaryOp op) {
  detail::require_cpu(device);
  const T* in = std::ranges::data(range);
  const std::size_t n = std::ranges::size(range);
  if (n == 0) return neutral;
  // 2^14 elements a part: 10 us or more of the cheapest operator, against a fork and join of about one.
  const int parts = static_cast<int>(std::clamp<std::size_t>(n >> 14, 1, static_cast<std::size_t>(detail::cores())));
  if (parts == 1) return detail::reduce_in_order(in, n, op);

  struct Work {
    const T* in;
    std::size_t n;
    int parts;
    BinaryOp& op;
    std::vector<T> totals;
    std::vector<std::exception_ptr> errors;
  } work{in,
         n,
         parts,
         op,
         std::vector<T>(static_cast<std::size_t>(parts), neutral),
         std::vector<std::exception_ptr>(static_cast<std::size_t>(parts))};
  detail::run_parts_on_cores(
      parts,
      [](void* context, int part) noexcept {
        Work& w = *static_cast<Work*>(context);
        const auto p = static_cast<std::size_t>(part), chunk = w.n / static_cast<std::size_t>(w.parts);
        const std::size_t begin = p * chunk, end = part + 1 == w.parts ? w.n : begin + chunk;
        try {
          w.totals[p] = detail::reduce_in_order(w.in + begin, end - begin, w.op);
        } catch (...) {
          w.errors[p] = std::current_exception();
        }
      },
      &work);
  for (const std::exception_ptr& error : work.errors)
    if (error) std::rethrow_exception(error);
  return detail::reduce_in_order(work.totals.data(), work.totals.size(), op);
}

}  // namespace upsweep
