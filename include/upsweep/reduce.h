// reduce: op(in[0], ..., in[n-1]) in an unspecified order. If n is 0: 0 for sums, 1 for products, and the largest
// (lowest) value of the type for minima (maxima).
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "upsweep/buffer.h"
#include "upsweep/invoke.h"

namespace upsweep {

extern const Contract reduce_contract;

// The element types that the library is compiled for: 32- and 64-bit integers, float and double.
template <class T>
concept ReduceElement = std::is_arithmetic_v<T> &&(sizeof(T) == 4 || sizeof(T) == 8) && !std::same_as<T, wchar_t> &&
                        !std::same_as<T, char32_t>;

namespace detail {

void require_cpu(const Device& device);
int cores() noexcept;
// Calls run(context, part) for each part in [0, parts), on all cores, and waits.
void run_parts_on_cores(int parts, void (*run)(void* context, int part) noexcept, void* context) noexcept;

// Reduces in[0..n), n > 0, with op in order: operands are regrouped but never swapped. Eight runs of 64 elements are
// reduced side by side, because one chain of dependent operations leaves most of a core idle (latency 4 or more, two
// per cycle); runs of 64 keep the eight streams inside 4 KiB for 8-byte elements.
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

// out[0] = the reduction; `out` has at least one element. Integer sums and products wrap. Float results depend on the
// rung and the device, unless the rung is "reproducible". A float sum that is zero is -0 if there are elements and all
// of them are -0, otherwise +0. For arrays, waiting and errors see upsweep/view.h and
// invoke().
template <InputArray In, OutputOf<input_element<In>> Out>
requires ReduceElement<input_element<In>>
void reduce(Device& device, const In& in, Out&& out, Op op = Op::sum, const Options& options = {}) {
  invoke(device, {.contract = &reduce_contract, .operation = op, .in = {view(in)}, .out = {view(out)}}, options);
}

// The same, but waits and returns the result.
template <InputArray In>
requires ReduceElement<input_element<In>> input_element<In> reduce(Device& device, const In& in, Op op = Op::sum,
                                                                   const Options& options = {}) {
  input_element<In> out;
  reduce(device, in, host_view(&out, 1), op, options);
  return out;
}

// Reduces with a user-defined associative operator, on the CPU. Operands are regrouped but never swapped, so op need
// not be commutative (matrix products). `neutral` is the result for an empty range. op is called from several threads
// at once; an exception that it throws is rethrown here. (On a GPU: upsweep/reduce.cuh.)
template <std::ranges::contiguous_range Range, std::copyable T, class BinaryOp>
requires std::same_as<T, std::ranges::range_value_t<Range>> && std::invocable<BinaryOp&, const T&, const T&> T
reduce(Device& device, const Range& range, T neutral, BinaryOp op) {
  detail::require_cpu(device);
  const T* in = std::ranges::data(range);
  const std::size_t n = std::ranges::size(range);
  if (n == 0) return neutral;
  // At least 2^14 elements per part: 10 us or more even of the cheapest operator, against about 1 us for the fork and
  // join.
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
