// Stable partition into up to 32768 buckets (multisplit): groups keys by bucket, in input order within each bucket.
//
//   partition_by_digit      bucket = (key >> first_bit) & (2^bits - 1): a pass of a radix sort; 2 to 2^15 buckets
//   partition_by_splitters  bucket = the number of splitters <= key; there is one more bucket than splitters
//
//   std::vector<std::uint32_t> out(keys.size()), offsets(257);
//   upsweep::partition_by_digit(device, keys, {.first_bit = 24}, out, offsets);       // 256 buckets, by the top byte
//   // bucket b is out[offsets[b]] to out[offsets[b + 1] - 1]; offsets[256] is the number of keys
//   upsweep::partition_by_splitters(device, keys, values, splitters, out, out_values, offsets);
//
// Keys are std::uint32_t or std::uint64_t. Values move with their keys and may have any trivially copyable type of 4, 8
// or 16 bytes. Offsets have one element per bucket plus one; they are 32- or 64-bit integers, signed or unsigned, that
// can hold the number of keys. Outputs must have at least as many elements as the input and must overlap neither an
// input nor each other. Splitters have the keys' type.
//
// On the CPU, calls of fewer than 2^20 keys learn at run time whether one core or all cores are faster; the results are
// the same (upsweep/tuning.h).
//
// Throws Error(invalid_argument) before any launch for: a digit of 0 bits, of more than 15, or beyond the key; no
// splitters, or more than 32767; splitters that do not ascend, or a first splitter of 0, which would leave bucket 0
// empty for any input; different numbers of values and keys; offsets of the wrong number or type. Splitters in GPU
// memory are not validated, because the call would have to wait: if they do not ascend, keys land in wrong buckets, but
// no access is out of bounds.
//
// Four GPU rungs, which run only if Options::rung names them, are not stable: baseline, shared_histogram, coarsened and
// shared_scan. They write the keys of a bucket in any order, each with its value.
//
// For a user-defined bucket function on a GPU, see upsweep/partition.cuh.
//
// For arrays, waiting and other errors, see upsweep/view.h and invoke(); for values, upsweep/values.h.
#pragma once
#include <cstdint>

#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/partition.h"
#include "upsweep/values.h"

namespace upsweep {

extern const Contract partition_contract;

namespace detail {

template <class A>
concept KeyArray = InputOf<A, std::uint32_t> || InputOf<A, std::uint64_t>;

template <class Keys, class Out, class Offsets>
void partition(Device& device, Request request, const Keys& keys, Out&& out, Offsets&& offsets,
               const Options& options) {
  request.contract = &partition_contract;
  request.in[0] = view(keys);
  request.out[0] = view(out);
  request.out[2] = view(offsets);
  invoke(device, request, options);
}
template <class Keys, class Values, class Out, class OutValues, class Offsets>
void partition(Device& device, Request request, const Keys& keys, const Values& values, Out&& out,
               OutValues&& out_values, Offsets&& offsets, const Options& options) {
  take_values(request, "partition", view(keys).size(), values, out_values);
  partition(device, request, keys, out, offsets, options);
}

}  // namespace detail

template <detail::KeyArray Keys, OutputOf<input_element<Keys>> Out, detail::IndexArray Offsets>
void partition_by_digit(Device& device, const Keys& keys, Digit digit, Out&& out, Offsets&& offsets,
                        const Options& options = {}) {
  detail::partition(device, {.operation = Bucketing::digit, .scalars = partition_scalars.scalars(digit)}, keys, out,
                    offsets, options);
}

template <detail::KeyArray Keys, detail::ValueArray Values, OutputOf<input_element<Keys>> Out,
          OutputOf<std::remove_const_t<element_of<Values>>> OutValues, detail::IndexArray Offsets>
void partition_by_digit(Device& device, const Keys& keys, const Values& values, Digit digit, Out&& out,
                        OutValues&& out_values, Offsets&& offsets, const Options& options = {}) {
  detail::partition(device, {.operation = Bucketing::digit, .scalars = partition_scalars.scalars(digit)}, keys, values,
                    out, out_values, offsets, options);
}

template <detail::KeyArray Keys, InputOf<input_element<Keys>> Splitters, OutputOf<input_element<Keys>> Out,
          detail::IndexArray Offsets>
void partition_by_splitters(Device& device, const Keys& keys, const Splitters& splitters, Out&& out, Offsets&& offsets,
                            const Options& options = {}) {
  detail::partition(device, {.operation = Bucketing::splitters, .in = {AnyView(), AnyView(), view(splitters)}}, keys,
                    out, offsets, options);
}

template <detail::KeyArray Keys, detail::ValueArray Values, InputOf<input_element<Keys>> Splitters,
          OutputOf<input_element<Keys>> Out, OutputOf<std::remove_const_t<element_of<Values>>> OutValues,
          detail::IndexArray Offsets>
void partition_by_splitters(Device& device, const Keys& keys, const Values& values, const Splitters& splitters,
                            Out&& out, OutValues&& out_values, Offsets&& offsets, const Options& options = {}) {
  detail::partition(device, {.operation = Bucketing::splitters, .in = {AnyView(), AnyView(), view(splitters)}}, keys,
                    values, out, out_values, offsets, options);
}

}  // namespace upsweep
