// Selections: what is kept of n elements, in their order, and how many those are.
//
//   find_repeats       the positions i with in[i] == in[i + 1]
//   select_if          the elements below a limit (with any predicate, on a GPU: select.cuh)
//   select_flagged     the elements whose flag is not 0
//   unique             the first element of every run of equal ones
//   run_length_encode  the same, and how long each run is
//   partition_if       as select_if, and behind them the others, n in all; the count is of the former
//
// Elements are equal as values: 0 and -0 are, NaN is not equal to itself, and it is below nothing.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

#include "upsweep/buffer.h"
#include "upsweep/device.h"
#include "upsweep/types.h"

namespace upsweep {

struct SelectOptions {
  std::string_view rung = {};  // a rung of the select ladder by name; empty: the fastest
};

// Every function takes contiguous ranges in host memory (on a GPU they are copied there and back), or buffers of the
// device. It waits, and returns how many elements are selected; or leaves that in count[0], one u64, where it is given
// a `count`. Of buffers such a call is queued on the device's stream: errors of the kernel appear at the next
// synchronize(), and after the first call of a size nothing is allocated and nothing waits, so it can be captured in a
// CUDA graph.
//
//   const std::uint64_t n = upsweep::unique(device, in, out);
//   upsweep::unique(device, in, out, count);                    // std::array<std::uint64_t, 1>, Buffer<std::uint64_t>
//   upsweep::unique(device, in, out, {}, {.rung = "two_pass"});
//
// Outputs have room for as many elements as the input has, and do not overlap it; nothing is written behind what is
// selected. Positions and lengths are std::uint32_t for less than 2^32 elements, and std::uint64_t for more. Throw
// Error, before anything is launched: invalid_argument (no rung of that name, an output too small, flags of another
// size, positions of the other type, a limit that a double cannot hold), unsupported (the rung does not take this type,
// operation or n); and out_of_memory, device_error.

namespace detail {

template <class A>
inline constexpr bool is_buffer = false;
template <class T>
inline constexpr bool is_buffer<Buffer<T>> = true;

template <class A>
struct ElementOf {};
template <class A>
requires is_buffer<A>
struct ElementOf<A> {
  using type = std::remove_cvref_t<decltype(*std::declval<A&>().data())>;
};
template <std::ranges::contiguous_range A>
struct ElementOf<A> {
  using type = std::ranges::range_value_t<A>;
};
template <class A>
using element_of = typename ElementOf<std::remove_cvref_t<A>>::type;

// Where its elements are: const where they are.
template <class A>
auto* data_of(A& a) {
  if constexpr (is_buffer<std::remove_const_t<A>>)
    return a.data();
  else
    return std::ranges::data(a);
}

template <class A, class B>
inline constexpr bool on_same_side = is_buffer<std::remove_cvref_t<A>> == is_buffer<std::remove_cvref_t<B>>;

template <class In>
concept SelectInput = Element<element_of<In>>;
// An array of T where `In` is; one to write to; and one of positions.
template <class A, class In, class T>
concept ArrayBeside = std::same_as<element_of<A>, T> && on_same_side<A, In>;
template <class A, class In, class T>
concept OutputBeside = ArrayBeside<A, In, T> && requires(A& a) {
  { data_of(a) } -> std::same_as<T*>;
};
template <class A, class In>
concept PositionsBeside = OutputBeside<A, In, std::uint32_t> || OutputBeside<A, In, std::uint64_t>;
// In the place of a count: to be returned.
struct Returned {};
template <class A, class In>
concept CountBeside = std::same_as<std::remove_cvref_t<A>, Returned> || OutputBeside<A, In, std::uint64_t>;

struct SelectArray {
  Type type = Type::u8;
  void* data = nullptr;
  std::size_t size = 0;
};
struct SelectCall {
  Op op;
  bool on_host;
  SelectArray in, out;
  SelectArray flags = {}, lengths = {};
  double below = 0;  // of partition_if and select_if
};
// Leaves the count in count[0], where the arrays are; or, where `count` is null, waits and returns it.
std::uint64_t select(Device& device, const SelectCall& call, const SelectArray* count, const SelectOptions& options);

template <class A>
SelectArray select_array(const Device& device, const char* role, A& a) {
  using T = element_of<A>;
  if constexpr (is_buffer<std::remove_const_t<A>>) a.memory().require_on(device, role);
  return {type_of<T>(), const_cast<T*>(data_of(a)), static_cast<std::size_t>(std::size(a))};  // inputs too
}

template <class In, class Out>
SelectCall select_call(const Device& device, Op op, const In& in, Out&& out) {
  return {.op = op,
          .on_host = !is_buffer<In>,
          .in = select_array(device, "the input", in),
          .out = select_array(device, "the output", out)};
}

// A limit as a parameter. Throws Error(invalid_argument) where a double is not the same number.
template <class T>
double select_limit(T below) {
  const auto limit = static_cast<double>(below);
  constexpr double beyond = std::is_signed_v<T> ? 0x1p63 : 0x1p64;
  if (std::is_floating_point_v<T> || (limit < beyond && static_cast<T>(limit) == below)) return limit;
  throw Error(Code::invalid_argument, "a limit of " + std::to_string(below) + " is no number that a double holds",
              "beyond 2^53 take a multiple of a power of two");
}

template <class Count>
auto select(Device& device, const SelectCall& call, Count&& count, const SelectOptions& options) {
  if constexpr (std::same_as<std::remove_cvref_t<Count>, Returned>) {
    return select(device, call, static_cast<const SelectArray*>(nullptr), options);
  } else {
    const SelectArray array = select_array(device, "the count", count);
    select(device, call, &array, options);
  }
}

}  // namespace detail

template <detail::SelectInput In, detail::PositionsBeside<In> Out, detail::CountBeside<In> Count = detail::Returned>
auto find_repeats(Device& device, const In& in, Out&& positions, Count&& count = {},
                  const SelectOptions& options = {}) {
  return detail::select(device, detail::select_call(device, Op::find_repeats, in, positions), count, options);
}

template <detail::SelectInput In, detail::OutputBeside<In, detail::element_of<In>> Out,
          detail::CountBeside<In> Count = detail::Returned>
auto select_if(Device& device, const In& in, std::type_identity_t<detail::element_of<In>> below, Out&& out,
               Count&& count = {}, const SelectOptions& options = {}) {
  detail::SelectCall call = detail::select_call(device, Op::select_if, in, out);
  call.below = detail::select_limit(below);
  return detail::select(device, call, count, options);
}

template <detail::SelectInput In, detail::ArrayBeside<In, std::uint8_t> Flags,
          detail::OutputBeside<In, detail::element_of<In>> Out, detail::CountBeside<In> Count = detail::Returned>
auto select_flagged(Device& device, const In& in, const Flags& flags, Out&& out, Count&& count = {},
                    const SelectOptions& options = {}) {
  detail::SelectCall call = detail::select_call(device, Op::select_flagged, in, out);
  call.flags = detail::select_array(device, "the flags", flags);
  return detail::select(device, call, count, options);
}

template <detail::SelectInput In, detail::OutputBeside<In, detail::element_of<In>> Out,
          detail::CountBeside<In> Count = detail::Returned>
auto unique(Device& device, const In& in, Out&& out, Count&& count = {}, const SelectOptions& options = {}) {
  return detail::select(device, detail::select_call(device, Op::unique, in, out), count, options);
}

template <detail::SelectInput In, detail::OutputBeside<In, detail::element_of<In>> Out,
          detail::PositionsBeside<In> Lengths, detail::CountBeside<In> Count = detail::Returned>
auto run_length_encode(Device& device, const In& in, Out&& values, Lengths&& lengths, Count&& count = {},
                       const SelectOptions& options = {}) {
  detail::SelectCall call = detail::select_call(device, Op::run_length_encode, in, values);
  call.lengths = detail::select_array(device, "the lengths", lengths);
  return detail::select(device, call, count, options);
}

template <detail::SelectInput In, detail::OutputBeside<In, detail::element_of<In>> Out,
          detail::CountBeside<In> Count = detail::Returned>
auto partition_if(Device& device, const In& in, std::type_identity_t<detail::element_of<In>> below, Out&& out,
                  Count&& count = {}, const SelectOptions& options = {}) {
  detail::SelectCall call = detail::select_call(device, Op::partition_if, in, out);
  call.below = detail::select_limit(below);
  return detail::select(device, call, count, options);
}

}  // namespace upsweep
