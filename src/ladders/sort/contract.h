// sort: out[0] = the n keys of in[0] in order, stable: equal keys keep their order. out[1] = the values of in[1], in
// the order of their keys. If there is an output of values but no input of values, out[1] = the indices of the keys in
// in[0] (argsort); then out[0] may be empty.
//
// Keys compare by the bits [first_bit, first_bit + bits) of their number, an unsigned integer that compares as the keys
// do (key_order.h). Integers compare by value. Floats compare as -inf, ..., -0 = +0, ..., inf, NaN; all NaN are equal,
// whatever their signs and payloads. scalars[0] is first_bit; scalars[1] is bits, at least 1; first_bit + bits is at
// most the key's width. scalars[2], a FloatOrder, may select IEEE 754's totalOrder instead, in which no two different
// floats are equal: negative NaN, -inf, ..., -0, +0, ..., inf, NaN. `descending` sorts by the complement of the
// compared bits, so it is stable too. Equal keys keep their order and their bits.
//
// Keys: any type. Values: 4 or 8 bytes, as n elements of any type of that size; or 16 bytes, as 2 n elements of 8
// bytes. Indices: any type of 4 or 8 bytes that holds n. out[0] may be in[0], and out[1] may be in[1]; no other arrays
// overlap. Arrays need only the alignment of their elements.
#pragma once
#include "base/call.h"
#include "kernel/multisplit/args.h"
#include "ladders/sort/key_order.h"

namespace upsweep::ladders::sort {

using multisplit::Values, multisplit::wide;

// The arguments of kernels and loops. Keys are passed as unsigned integers, so that all integer types of a width share
// one instantiation, and all floating-point types of a width another.
template <class KeyOrder>
struct KeyArgs : Execution {
  using Key = typename KeyOrder::Key;
  const Key* keys;  // [n]
  std::size_t n;
  Key* out;       // [n]; may be `keys`; null if only indices are requested
  Values values;  // `out` may be `in`. Indices are requested if `in` is null and bytes is not 0
  KeyOrder order;
  unsigned first_bit, bits;

  // Mask of the compared bits.
  std::uint64_t compared() const { return ~std::uint64_t(0) >> (64 - bits) << first_bit; }
  bool indices() const { return values.bytes && !values.in; }
};

template <class T, class O>
struct Args : KeyArgs<OrderOf<T>> {};

inline constexpr Status no_memory{Code::out_of_memory, 0, "no memory for a copy of the keys and values"};

// ---- calls ----------------------------------------------------------------------------------------------------------

// True if a call asks for the indices of its keys: it has an output of values, but no input of values. False without
// keys.
inline bool wants_indices(const Call& c) { return c.n() > 0 && c.in[1].count == 0 && c.out[1].count > 0; }

// Returns the bytes per value, or per index; 0 if a call has neither.
inline unsigned value_bytes(const Call& c) {
  if (wants_indices(c)) return static_cast<unsigned>(size_of(c.out[1].type));
  return c.n() == 0 ? 0 : static_cast<unsigned>(c.in[1].bytes() / c.n());
}

}  // namespace upsweep::ladders::sort
