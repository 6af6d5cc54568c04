// Selections: copy the selected elements, in order, and count them.
//
//   find_repeats       the positions i with in[i] == in[i + 1]
//   nonzero            the positions i with in[i] != 0, as numpy.nonzero
//   select_if          the elements below a limit (for any predicate on a GPU: select.cuh)
//   select_flagged     the elements whose flag is not 0
//   unique             the first element of every run of equal elements
//   run_length_encode  as unique, with the length of each run
//   partition_if       as select_if, followed by the other elements, which are not counted: n elements in all
//
// Elements are compared by value: 0 equals -0; NaN differs from itself and from 0, and is not below any limit.
//
// Every function waits and returns the number of selected elements. With a `count` argument, it stores the number in
// count[0], one std::uint64_t, instead; if all arrays are on the device, the call is then queued without waiting:
//
//   const std::uint64_t n = upsweep::unique(device, in, out);
//   upsweep::unique(device, in, out, count);                    // std::array<std::uint64_t, 1>, Buffer<std::uint64_t>
//   upsweep::unique(device, in, out, {}, {.rung = "two_pass"});
//
// Outputs must have at least as many elements as the input and must not overlap it; elements past the selected ones are
// not touched. Positions and lengths are 32- or 64-bit integers, signed or unsigned; Error(invalid_argument) is thrown
// if they cannot hold the number of elements. For arrays, waiting and errors, see upsweep/view.h and invoke().
#pragma once
#include <cstdint>

#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/select.h"

namespace upsweep {

extern const Contract select_contract;

namespace detail {

// Tag: the count is returned, not stored.
struct Returned {};
template <class A>
concept CountArray = std::same_as<std::remove_cvref_t<A>, Returned> || OutputOf<A, std::uint64_t>;

template <class Count>
auto select(Device& device, Request request, Count&& count, const Options& options) {
  request.contract = &select_contract;
  if constexpr (std::same_as<std::remove_cvref_t<Count>, Returned>) {
    std::uint64_t selected = 0;
    request.out[1] = host_view(&selected, 1);
    invoke(device, request, options);
    return selected;
  } else {
    request.out[1] = view(count);
    invoke(device, request, options);
  }
}

}  // namespace detail

template <InputArray In, detail::IndexArray Out, detail::CountArray Count = detail::Returned>
auto find_repeats(Device& device, const In& in, Out&& positions, Count&& count = {}, const Options& options = {}) {
  return detail::select(device, {.operation = Selection::find_repeats, .in = {view(in)}, .out = {view(positions)}},
                        count, options);
}

template <InputArray In, detail::IndexArray Out, detail::CountArray Count = detail::Returned>
auto nonzero(Device& device, const In& in, Out&& positions, Count&& count = {}, const Options& options = {}) {
  return detail::select(device, {.operation = Selection::nonzero, .in = {view(in)}, .out = {view(positions)}}, count,
                        options);
}

template <InputArray In, OutputOf<input_element<In>> Out, detail::CountArray Count = detail::Returned>
auto select_if(Device& device, const In& in, std::type_identity_t<input_element<In>> below, Out&& out,
               Count&& count = {}, const Options& options = {}) {
  return detail::select(device,
                        {.operation = Selection::select_if, .in = {view(in)}, .out = {view(out)}, .scalars = {below}},
                        count, options);
}

template <InputArray In, InputOf<std::uint8_t> Flags, OutputOf<input_element<In>> Out,
          detail::CountArray Count = detail::Returned>
auto select_flagged(Device& device, const In& in, const Flags& flags, Out&& out, Count&& count = {},
                    const Options& options = {}) {
  return detail::select(device,
                        {.operation = Selection::select_flagged, .in = {view(in), view(flags)}, .out = {view(out)}},
                        count, options);
}

template <InputArray In, OutputOf<input_element<In>> Out, detail::CountArray Count = detail::Returned>
auto unique(Device& device, const In& in, Out&& out, Count&& count = {}, const Options& options = {}) {
  return detail::select(device, {.operation = Selection::unique, .in = {view(in)}, .out = {view(out)}}, count, options);
}

template <InputArray In, OutputOf<input_element<In>> Out, detail::IndexArray Lengths,
          detail::CountArray Count = detail::Returned>
auto run_length_encode(Device& device, const In& in, Out&& values, Lengths&& lengths, Count&& count = {},
                       const Options& options = {}) {
  return detail::select(
      device,
      {.operation = Selection::run_length_encode, .in = {view(in)}, .out = {view(values), AnyView(), view(lengths)}},
      count, options);
}

template <InputArray In, OutputOf<input_element<In>> Out, detail::CountArray Count = detail::Returned>
auto partition_if(Device& device, const In& in, std::type_identity_t<input_element<In>> below, Out&& out,
                  Count&& count = {}, const Options& options = {}) {
  return detail::select(
      device, {.operation = Selection::partition_if, .in = {view(in)}, .out = {view(out)}, .scalars = {below}}, count,
      options);
}

}  // namespace upsweep
