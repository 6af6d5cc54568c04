// reduce: combines in[0], ..., in[n-1] with op in an unspecified order. An empty input gives 0 for sums, 1 for
// products, and the largest (lowest) value of the type for minima (maxima).
//
// An initial value acts as an extra element before in[0], and is the result if n is 0. As in std::reduce, it precedes
// the operator in the argument list. Sums may be wider than their elements, so that they do not wrap or round at the
// elements' width: u8 as u32 or u64, u32 as u64, i32 as i64, f32 as f64. The type of the output, or of the initial
// value if there is no output, selects this; every addition is in that type. Sums of f16 and bf16 are computed in
// float, whatever the type of the result, and rounded once. Sums of i8, i16 and u16, and products of elements of 8 and
// 16 bits, throw Error(unsupported).
//
//   upsweep::reduce(gpu, bytes, std::uint64_t{0});  // sums std::uint8_t in 64 bits
//
// reduce_segments: reduces each segment of equal length, such as the rows of a matrix.
//
// argmin, argmax: the index of the first smallest or largest element, as numpy.argmin and numpy.argmax: the first NaN
// if there is one; -0 equals +0. An empty input is an error (invalid_argument).
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/reduce.h"

namespace upsweep {

extern const Contract reduce_contract;

// The element types that user-defined operators take: 32- and 64-bit integers, float and double.
template <class T>
concept ReduceElement = std::is_arithmetic_v<T> &&(sizeof(T) == 4 || sizeof(T) == 8) && !std::same_as<T, wchar_t> &&
                        !std::same_as<T, char32_t>;

namespace detail {

inline Request reduction(Operation operation, const AnyView& in, const AnyView& out, const Scalars& scalars = {}) {
  return {.contract = &reduce_contract, .operation = operation, .in = {in}, .out = {out}, .scalars = scalars};
}

void require_cpu(const Device& device);
int cores() noexcept;
// Calls run(context, part) for each part in [0, parts) on all cores, and waits.
void run_parts_on_cores(int parts, void (*run)(void* context, int part) noexcept, void* context) noexcept;

// Reduces in[0..n), n > 0, with op in order: operands are regrouped but never swapped. Eight runs of 64 elements are
// reduced side by side, because one chain of dependent operations leaves most of a core idle (latency 4 cycles or more,
// throughput two per cycle); runs of 64 keep the eight streams inside 4 KiB for 8-byte elements.
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

// out[0] = the reduction; `out` must have at least one element. Integer sums and products wrap. Float results depend on
// the rung and the device; the rung "reproducible" instead rounds the exact sum of all elements and the initial value
// once. A zero float sum is -0 if the input is not empty and every element is -0, otherwise +0. Rungs other than the
// default may refuse an initial value or a wider output (unsupported). For arrays, waiting and errors, see
// upsweep/view.h and invoke().
template <InputArray In, SumOutputOf<input_element<In>> Out>
void reduce(Device& device, const In& in, Out&& out, Op op = Op::sum, const Options& options = {}) {
  invoke(device, detail::reduction(op, view(in), view(out)), options);
}
template <InputArray In, SumOutputOf<input_element<In>> Out>
void reduce(Device& device, const In& in, Out&& out, std::type_identity_t<element_of<Out>> initial, Op op = Op::sum,
            const Options& options = {}) {
  invoke(device, detail::reduction(op, view(in), view(out), reduce_scalars.scalars({.initial = initial})), options);
}

// As reduce() into `out`, but waits and returns the result.
template <InputArray In>
input_element<In> reduce(Device& device, const In& in, Op op = Op::sum, const Options& options = {}) {
  input_element<In> out;
  reduce(device, in, host_view(&out, 1), op, options);
  return out;
}
template <InputArray In, Element T>
requires(std::same_as<input_element<In>, T> || widens_sums(type_of<input_element<In>>(), type_of<T>()))
T reduce(Device& device, const In& in, T initial, Op op = Op::sum, const Options& options = {}) {
  T out;
  reduce(device, in, host_view(&out, 1), initial, op, options);
  return out;
}

// out[s] = the reduction of segment s, which begins at element s * segment_length and has segment_length elements, or
// fewer if it is the last. `out` must have one element per segment, none if `in` is empty. An initial value precedes
// each segment. A segment_length of 0 makes all elements one segment. Otherwise as reduce().
//
//   upsweep::reduce_segments(gpu, matrix, columns, sums_of_rows);
template <InputArray In, SumOutputOf<input_element<In>> Out>
void reduce_segments(Device& device, const In& in, std::size_t segment_length, Out&& out, Op op = Op::sum,
                     const Options& options = {}) {
  const Scalars scalars = reduce_scalars.scalars({.segment_length = segment_length});
  invoke(device, detail::reduction(op, view(in), view(out), scalars), options);
}
template <InputArray In, SumOutputOf<input_element<In>> Out>
void reduce_segments(Device& device, const In& in, std::size_t segment_length, Out&& out,
                     std::type_identity_t<element_of<Out>> initial, Op op = Op::sum, const Options& options = {}) {
  const Scalars scalars = reduce_scalars.scalars({.initial = initial, .segment_length = segment_length});
  invoke(device, detail::reduction(op, view(in), view(out), scalars), options);
}

// out[0] = the index of the first smallest or largest element.
template <InputArray In, OutputOf<std::uint64_t> Out>
void argmin(Device& device, const In& in, Out&& out, const Options& options = {}) {
  invoke(device, detail::reduction(IndexOf::min, view(in), view(out)), options);
}
template <InputArray In, OutputOf<std::uint64_t> Out>
void argmax(Device& device, const In& in, Out&& out, const Options& options = {}) {
  invoke(device, detail::reduction(IndexOf::max, view(in), view(out)), options);
}

// As above, but wait and return the index.
template <InputArray In>
std::uint64_t argmin(Device& device, const In& in, const Options& options = {}) {
  std::uint64_t out;
  argmin(device, in, host_view(&out, 1), options);
  return out;
}
template <InputArray In>
std::uint64_t argmax(Device& device, const In& in, const Options& options = {}) {
  std::uint64_t out;
  argmax(device, in, host_view(&out, 1), options);
  return out;
}

// Reduces with a user-defined associative operator, on the CPU. Operands are regrouped but never swapped, so op need
// not be commutative (matrix products). `neutral` is the result for an empty range. op is called concurrently from
// several threads; an exception that it throws is rethrown here. On a GPU, use upsweep/reduce.cuh.
template <std::ranges::contiguous_range Range, std::copyable T, class BinaryOp>
requires std::same_as<T, std::ranges::range_value_t<Range>> && std::invocable<BinaryOp&, const T&, const T&> T
reduce(Device& device, const Range& range, T neutral, BinaryOp op) {
  detail::require_cpu(device);
  const T* in = std::ranges::data(range);
  const std::size_t n = std::ranges::size(range);
  if (n == 0) return neutral;
  // At least 2^14 elements per part: 10 us or more even with the cheapest operator, against about 1 us for fork and
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
