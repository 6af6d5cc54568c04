// Stable radix sort of keys, of keys with values, and of the indices of keys.
//
//   upsweep::sort(device, keys, keys);                                            // in place
//   upsweep::sort(device, keys, values, out, out_values, {.order = upsweep::Order::descending});
//   upsweep::sort(device, keys, out, {.first_bit = 8});                           // the lowest byte is not compared
//   upsweep::sort(device, keys, out, {.float_order = upsweep::FloatOrder::total_order});
//   std::vector<std::uint32_t> indices(keys.size());
//   upsweep::argsort(device, keys, indices);                                      // keys[indices[0]] is the smallest
//
// Keys have any element type and compare by value, as in NumPy: -inf, ..., -0 equal to +0, ..., inf, and last NaN,
// which are all equal, whatever their signs and payloads. Descending is the reverse, with NaN first.
// FloatOrder::total_order selects IEEE 754's totalOrder, in which floats with different bits are never equal: negative
// NaN, -inf, ..., -0, +0, ..., inf, NaN. It has no effect on integers.
//
// The sort is stable, descending too, and preserves every key's bits. Values move with their keys and may have any
// trivially copyable type of 4, 8 or 16 bytes. Indices are 32- or 64-bit integers, signed or unsigned, that can hold
// the number of keys. Outputs must have at least as many elements as the input. The keys may be sorted in place, and so
// may the values; no other arrays may overlap.
//
// On the CPU, calls of fewer than 2^19 keys learn at run time whether one core or all cores are faster; the results are
// the same (upsweep/tuning.h).
//
// The sort compares bits [first_bit, first_bit + bits) of the encoded key. Unsigned integers are encoded as they are;
// signed integers and nonnegative floats with the sign bit inverted; negative floats with all bits inverted. Unless
// total_order is requested, -0 is encoded as +0, and every NaN as all ones.
//
// Throws Error(invalid_argument) before any launch for: 0 bits, or more than the key has from first_bit on; different
// numbers of values and keys; indices of the wrong type.
//
// For arrays, waiting and other errors, see upsweep/view.h and invoke(); for values, upsweep/values.h.
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

// indices[k] = the index of the key that sort() writes to out[k].
template <InputArray Keys, detail::IndexArray Indices>
void argsort(Device& device, const Keys& keys, Indices&& indices, const Sorting& sorting = {},
             const Options& options = {}) {
  Request request = detail::sort_request(keys, sorting);
  request.out[1] = view(indices);
  invoke(device, request, options);
}

// Also writes the sorted keys.
template <InputArray Keys, OutputOf<input_element<Keys>> Out, detail::IndexArray Indices>
void argsort(Device& device, const Keys& keys, Out&& out, Indices&& indices, const Sorting& sorting = {},
             const Options& options = {}) {
  Request request = detail::sort_request(keys, sorting);
  request.out[0] = view(out);
  request.out[1] = view(indices);
  invoke(device, request, options);
}

}  // namespace upsweep
