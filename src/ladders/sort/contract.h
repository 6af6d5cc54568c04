// sort: out[0] = the n keys of in[0] in order, stable: equal keys keep their order. out[1] = the values of in[1], each
// beside its key. If there is an output of values but no value, out[1] = the indices of the keys in in[0] (argsort);
// then out[0] may have no elements.
//
// Compared are the bits [first_bit, first_bit + bits) of a key's order, an unsigned number that compares as the keys
// do: of integers their value; of floats IEEE 754's totalOrder: negative NaN, -inf, ..., -0, +0, ..., inf, NaN.
// scalars[0] is first_bit, scalars[1] is bits, 1 or more; both together are at most the key's width. `descending` sorts
// by the complement of these bits, so it is stable too.
//
// Keys i8 to u64, f32, f64. Values have 4 or 8 bytes, n elements of any type of that size, or 16, 2 n elements of 8
// bytes. Indices are u32, or u64 if n >= 2^32. out[0] may be in[0], and out[1] may be in[1]; no other arrays overlap.
// Arrays at any alignment of the element.
#pragma once
#include "base/implementation.h"
#include "base/unsigned_as.h"
#include "ladders/partition/contract.h"
#include "upsweep/operations.h"

namespace upsweep::ladders::sort {

using partition::Values;

// Maps the bits of a key to an unsigned number that compares as the keys do. Plain data, passed to kernels by value.
template <class K>
struct KeyOrder {
  static_assert(std::is_unsigned_v<K>);
  static constexpr unsigned sign = 8 * sizeof(K) - 1;
  K flip;      // the sign bit of signed keys; all bits again if descending
  K negative;  // flipped too where the sign bit is set: of floats, all bits but the sign

  UPSWEEP_HD K operator()(K key) const { return static_cast<K>(key ^ flip ^ (all_if_set(key) & negative)); }
  // The key that is mapped to this number.
  UPSWEEP_HD K key(K number) const {
    const K key = static_cast<K>(number ^ flip);
    return static_cast<K>(key ^ (all_if_set(key) & negative));
  }
  // The key that comes after all others.
  UPSWEEP_HD K last() const { return key(static_cast<K>(~K(0))); }
  // All bits if the sign bit is set. No branch, which random keys would mispredict.
  UPSWEEP_HD static K all_if_set(K key) { return static_cast<K>(K(0) - static_cast<K>(key >> sign)); }
};

template <class T>
constexpr KeyOrder<UnsignedAs<T>> key_order(Order order) {
  using K = UnsignedAs<T>;
  constexpr K top = static_cast<K>(K(1) << (8 * sizeof(K) - 1));
  const K all = order == Order::descending ? static_cast<K>(~K(0)) : K(0);
  if constexpr (std::is_floating_point_v<T>)
    return {static_cast<K>(top ^ all), static_cast<K>(~top)};
  else
    return {static_cast<K>((std::is_signed_v<T> ? top : K(0)) ^ all), K(0)};
}

template <class K, bool is_float>
struct Sweep;
template <class T, class O>
struct Args;

// What finishes a sort whose first pass is by the highest digit: see hybrid.
template <class T, class O>
struct BucketSort {
  unsigned most;  // keys of a bucket
  Status (*start)(const Args<T, O>&, const Sweep<UnsignedAs<T>, std::is_floating_point_v<T>>&);
};

// Kernels and loops see keys as their bits, so that one serves all types of a width.
template <class T, class O>
struct Args : Execution {
  using Key = UnsignedAs<T>;
  const Key* keys;  // [n]
  std::size_t n;
  Key* out;       // [n]; may be `keys`; null if only indices are wanted
  Values values;  // in null and bytes not 0: the indices are wanted. out may be in
  KeyOrder<Key> order;
  unsigned first_bit, bits;
  const BucketSort<T, O>* bucket_sort = nullptr;  // from one rung to another; not of a call

  bool indices() const { return values.bytes && !values.in; }
};

inline constexpr Status no_memory{Code::out_of_memory, 0, "no memory for a copy of the keys and values"};

}  // namespace upsweep::ladders::sort
