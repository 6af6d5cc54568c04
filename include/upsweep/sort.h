// Stable radix sort of keys, of keys with values, and of the indices of keys.
//
//   upsweep::sort(device, keys, keys);                                            // in place
//   upsweep::sort(device, keys, values, out, out_values, {.order = upsweep::Order::descending});
//   upsweep::sort(device, keys, out, {.first_bit = 8});                           // the lowest byte is not compared
//   upsweep::sort(device, keys, out, {.float_order = upsweep::FloatOrder::total_order});
//   std::vector<std::uint32_t> indices(keys.size());
//   upsweep::argsort(device, keys, indices);                                      // keys[indices[0]] is the first
//
// Keys are of any element type and compare as numbers: -inf, ..., -0 and +0, which are equal, ..., inf, and last NaN,
// which are all equal, whatever their signs and payloads. (So it is in NumPy.) Descending is the reverse, with NaN
// first. FloatOrder::total_order is IEEE 754's totalOrder instead, in which floats of different bits are not equal:
// negative NaN, -inf, ..., -0, +0, ..., inf, NaN. It changes nothing for integers.
//
// Equal keys keep their order, descending too; every key keeps its bits. Values go where their keys go; they may be of
// any trivially copyable type of 4, 8 or 16 bytes. Indices are integers of 32 or 64 bits, signed or not, in which the
// number of keys has room. Outputs have room for as many elements as the input has; the output of keys may be the array
// of keys, and that of values the array of values; no other arrays overlap.
//
// Compared are the bits [first_bit, first_bit + bits) of a key's number, which is an unsigned integer's bits; a signed
// integer's with the sign inverted; a float's with the sign inverted, and all others too if it is negative. Unless
// total_order is asked for, -0 has the number of +0, and every NaN has that of all ones.
//
// Refused with Error(invalid_argument) before anything is launched: 0 bits, or more than the key has from first_bit on;
// more or fewer values than keys; indices of the wrong type.
//
// For arrays, waiting and other errors see upsweep/view.h and invoke(); for values upsweep/values.h.
#pragma once
#include <cstdint>

#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/sort.h"
#include "upsweep/values.h"

namespace upsweep {

extern const Contract sort_contract;

namespace detail {

template <class Keys>
Request sort_request(const Keys& keys, const Sorting& sorting) {
  return {.contract = &sort_contract,
          .operation = sorting.order,
          .in = {view(keys)},
          .scalars = sort_scalars.scalars(sorting)};
}

}  // namespace detail

template <InputArray Keys, OutputOf<input_element<Keys>> Out>
void sort(Device& device, const Keys& keys, Out&& out, const Sorting& sorting = {}, const Options& options = {}) {
  Request request = detail::sort_request(keys, sorting);
  request.out[0] = view(out);
  invoke(device, request, options);
}

template <InputArray Keys, detail::ValueArray Values, OutputOf<input_element<Keys>> Out,
          OutputOf<std::remove_const_t<element_of<Values>>> OutValues>
void sort(Device& device, const Keys& keys, const Values& values, Out&& out, OutValues&& out_values,
          const Sorting& sorting = {}, const Options& options = {}) {
  Request request = detail::sort_request(keys, sorting);
  request.out[0] = view(out);
  detail::take_values(request, "sort", view(keys).size(), values, out_values);
  invoke(device, request, options);
}

// indices[k] = the index of the key that sort() puts at k.
template <InputArray Keys, detail::IndexArray Indices>
void argsort(Device& device, const Keys& keys, Indices&& indices, const Sorting& sorting = {},
             const Options& options = {}) {
  Request request = detail::sort_request(keys, sorting);
  request.out[1] = view(indices);
  invoke(device, request, options);
}

// Writes the sorted keys too.
template <InputArray Keys, OutputOf<input_element<Keys>> Out, detail::IndexArray Indices>
void argsort(Device& device, const Keys& keys, Out&& out, Indices&& indices, const Sorting& sorting = {},
             const Options& options = {}) {
  Request request = detail::sort_request(keys, sorting);
  request.out[0] = view(out);
  request.out[1] = view(indices);
  invoke(device, request, options);
}

}  // namespace upsweep
