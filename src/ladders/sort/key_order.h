// Keys are ordered by a number, an unsigned integer of the key's width.
//
// Each key has two numbers. `number(key)` is different for different keys, so passes may store it instead of the key,
// and key(number) restores all bits. `merged(number)` is the one that is compared. For integers both are the same. For
// floats in their default order, merged() gives equal floats one number: -0 gets that of +0, and every NaN all ones, or
// 0 if descending.
#pragma once
#include <limits>
#include <type_traits>

#include "base/implementation.h"
#include "base/unsigned_as.h"
#include "upsweep/parameters/sort.h"

namespace upsweep::ladders::sort {

// The order of integers, and of floats in totalOrder: merged() is the identity. Plain data, passed to kernels by value.
template <class K>
struct KeyOrder {
  static_assert(std::is_unsigned_v<K>);
  using Key = K;
  static constexpr bool merges = false;
  static constexpr unsigned sign = 8 * sizeof(K) - 1;
  K flip;      // XOR mask: the sign bit of signed keys; complemented if descending
  K negative;  // XOR mask if the sign bit is set: for floats, all bits but the sign

  UPSWEEP_HD K operator()(K key) const { return number(key); }
  UPSWEEP_HD K number(K key) const { return static_cast<K>(key ^ flip ^ (all_if_set(key) & negative)); }
  // The inverse of number().
  UPSWEEP_HD K key(K number) const {
    const K key = static_cast<K>(number ^ flip);
    return static_cast<K>(key ^ (all_if_set(key) & negative));
  }
  template <class N>
  UPSWEEP_HD N merged(N number) const {
    return number;
  }
  // Returns the number of a key that sorts last, whichever bits are compared.
  UPSWEEP_HD K last(unsigned /*end_bit*/) const { return static_cast<K>(~K(0)); }

  UPSWEEP_HD const KeyOrder& total() const { return *this; }
  UPSWEEP_HD bool descending() const { return flip & 1; }  // no type's ascending order flips the lowest bit
  // Returns all ones if the sign bit is set, otherwise 0. Branchless, because a branch on random keys would mispredict.
  UPSWEEP_HD static K all_if_set(K key) { return static_cast<K>(K(0) - static_cast<K>(key >> sign)); }
};

// The order of floats. In totalOrder, the constants make merged() the identity.
template <class K>
struct FloatKeyOrder {
  using Key = K;
  static constexpr bool merges = true;
  KeyOrder<K> all;     // totalOrder, or its reverse
  K minus_zero, zero;  // the number of -0, and the one that it becomes
  K infinity, finite;  // the lower of the infinities' two numbers, and its distance to the higher
  K nan;               // the number that all NaN become

  UPSWEEP_HD K operator()(K key) const { return merged(number(key)); }
  UPSWEEP_HD K number(K key) const { return all.number(key); }
  UPSWEEP_HD K key(K number) const { return all.key(number); }
  // The numbers of NaN lie outside the range between the infinities: one comparison modulo 2^width finds them.
  UPSWEEP_HD K merged(K number) const {
    const K one_zero = number == minus_zero ? zero : number;
    return static_cast<K>(number - infinity) > finite ? nan : one_zero;
  }
  // Returns the number of a key that sorts last if bits below `end_bit` are compared. Ascending, that is NaN.
  // Descending, where NaN comes first, it is -inf, or +0 if the highest bit is not compared.
  UPSWEEP_HD K last(unsigned end_bit) const {
    if (nan != 0) return static_cast<K>(~K(0));
    return end_bit < 8 * sizeof(K) ? zero : static_cast<K>(infinity + finite);
  }
  UPSWEEP_HD const KeyOrder<K>& total() const { return all; }
  UPSWEEP_HD bool by_value() const { return zero != minus_zero; }
  UPSWEEP_HD bool descending() const { return all.descending(); }
};

template <class T>
using OrderOf = std::conditional_t<is_floating<T>, FloatKeyOrder<UnsignedAs<T>>, KeyOrder<UnsignedAs<T>>>;

template <class T>
OrderOf<T> key_order(Order order, FloatOrder floats) {
  using K = UnsignedAs<T>;
  constexpr K top = static_cast<K>(K(1) << (8 * sizeof(K) - 1));
  const K all = order == Order::descending ? static_cast<K>(~K(0)) : K(0);
  if constexpr (is_floating<T>) {
    const KeyOrder<K> total{static_cast<K>(top ^ all), static_cast<K>(~top)};
    if (floats == FloatOrder::total_order) return {total, 0, 0, 0, static_cast<K>(~K(0)), static_cast<K>(~K(0))};
    // Infinity: all bits of the exponent are set.
    constexpr unsigned mantissa = std::numeric_limits<T>::digits - 1;
    constexpr K inf = static_cast<K>(static_cast<K>(~top) >> mantissa << mantissa);
    // The numbers of -inf and +inf are complements, so that they bound the finite numbers in both directions.
    const K low = static_cast<K>(~(top | inf)), high = static_cast<K>(top | inf);
    return {total, total.number(top), total.number(0), low, static_cast<K>(high - low), static_cast<K>(~all)};
  } else {
    return {static_cast<K>((std::is_signed_v<T> ? top : K(0)) ^ all), K(0)};
  }
}

// The type of a number in shared memory.
template <class K>
using Ordered = std::conditional_t<(sizeof(K) > 4), std::uint64_t, std::uint32_t>;

}  // namespace upsweep::ladders::sort
