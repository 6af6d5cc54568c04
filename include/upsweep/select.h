// Selections: the selected ones of n elements, in order, and their number.
//
//   find_repeats       the positions i with in[i] == in[i + 1]
//   select_if          the elements below a limit (with any predicate, on a GPU: select.cuh)
//   select_flagged     the elements whose flag is not 0
//   unique             the first element of every run of equal ones
//   run_length_encode  the same, and how long each run is
//   partition_if       as select_if, followed by the other elements, n in all; the count is of the former
//
// Elements are compared as values: 0 equals -0; NaN does not equal itself, and is not below any limit.
//
// Every function waits and returns the number of selected elements. Given a `count`, it stores the number in count[0]
// instead, one std::uint64_t; such a call with all arrays on a device is queued:
//
//   const std::uint64_t n = upsweep::unique(device, in, out);
//   upsweep::unique(device, in, out, count);                    // std::array<std::uint64_t, 1>, Buffer<std::uint64_t>
//   upsweep::unique(device, in, out, {}, {.rung = "two_pass"});
//
// Outputs have room for as many elements as the input has, and do not overlap it; elements past the selected ones are
// not touched. Positions and lengths are integers of 32 or 64 bits, signed or not, in which the number of elements has
// room; a call with narrower ones is refused. For arrays, waiting and errors see upsweep/view.h and invoke().
#pragma once
#include <cstdint>

#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/select.h"

namespace upsweep {

extern const Contract select_contract;

namespace detail {

// Stands for a count that is returned.
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
