// sort: out[0] = the n keys of in[0] in order, stable: equal keys keep their order. out[1] = the values of in[1], each
// beside its key. If there is an output of values but no value, out[1] = the indices of the keys in in[0] (argsort);
// then out[0] may have no elements.
//
// Compared are the bits [first_bit, first_bit + bits) of a key's number, an unsigned integer that compares as the keys
// do (key_order.h): of integers their value; of floats -inf, ..., -0 and +0, which are equal, ..., inf, NaN, which are
// equal whatever their signs and payloads. scalars[0] is first_bit, scalars[1] is bits, 1 or more; both together are at
// most the key's width. scalars[2], a FloatOrder, may ask for IEEE 754's totalOrder instead, in which no two floats are
// equal: negative NaN, -inf, ..., -0, +0, ..., inf, NaN. `descending` sorts by the complement of these bits, so it is
// stable too. Equal keys keep their order and their bits.
//
// Keys i8 to u64, f32, f64. Values have 4 or 8 bytes, n elements of any type of that size, or 16, 2 n elements of 8
// bytes. Indices are of any type of 4 or 8 bytes that holds n. out[0] may be in[0], and out[1] may be in[1]; no other
// arrays overlap. Arrays at any alignment of the element.
#pragma once
#include "base/implementation.h"
#include "kernel/multisplit/args.h"
#include "ladders/sort/key_order.h"

namespace upsweep::ladders::sort {

using multisplit::Values, multisplit::wide;

// The arguments of kernels and loops. They see keys as their bits, so that one serves all types of a width.
template <class KeyOrder>
struct KeyArgs : Execution {
  using Key = typename KeyOrder::Key;
  const Key* keys;  // [n]
  std::size_t n;
  Key* out;       // [n]; may be `keys`; null if only indices are wanted
  Values values;  // in null and bytes not 0: the indices are wanted. out may be in
  KeyOrder order;
  unsigned first_bit, bits;

  // The bits of a number that are compared.
  std::uint64_t compared() const { return ~std::uint64_t(0) >> (64 - bits) << first_bit; }
  bool indices() const { return values.bytes && !values.in; }
};

template <class T, class O>
struct Args : KeyArgs<OrderOf<T>> {};

inline constexpr Status no_memory{Code::out_of_memory, 0, "no memory for a copy of the keys and values"};

}  // namespace upsweep::ladders::sort
