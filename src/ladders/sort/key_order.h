// The order of keys: by a number, an unsigned integer of the key's width.
//
// Two numbers belong to a key. `number(key)` is different for different keys, so that key(number) brings the key back
// with all its bits: passes may keep it instead of the key. `merged(number)` is what is compared. Of integers both are
// the same. Of floats in their default order, merged() makes numbers equal: that of -0 becomes that of +0, and that of
// every NaN all ones.
#pragma once
#include <limits>
#include <type_traits>

#include "base/implementation.h"
#include "base/unsigned_as.h"
#include "upsweep/parameters/sort.h"

namespace upsweep::ladders::sort {

// Integers; and floats in the order that number() alone gives, totalOrder. Plain data, passed to kernels by value.
template <class K>
struct KeyOrder {
  static_assert(std::is_unsigned_v<K>);
  using Key = K;
  static constexpr bool merges = false;
  static constexpr unsigned sign = 8 * sizeof(K) - 1;
  K flip;      // the sign bit of signed keys; all bits again if descending
  K negative;  // flipped too where the sign bit is set: of floats, all bits but the sign

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
  // Returns the number of a key that no key comes after, whichever of its bits are compared.
  UPSWEEP_HD K last(unsigned /*end_bit*/) const { return static_cast<K>(~K(0)); }

  UPSWEEP_HD const KeyOrder& total() const { return *this; }
  UPSWEEP_HD bool descending() const { return flip & 1; }  // of the lowest bit, which no type's order inverts
  // All bits if the sign bit is set. No branch, which random keys would mispredict.
  UPSWEEP_HD static K all_if_set(K key) { return static_cast<K>(K(0) - static_cast<K>(key >> sign)); }
};

// Floats. In totalOrder nothing is merged: the constants are such that merged() changes no number.
template <class K>
struct FloatKeyOrder {
  using Key = K;
  static constexpr bool merges = true;
  KeyOrder<K> all;     // totalOrder, or its reverse
  K minus_zero, zero;  // the number of -0, and what it becomes
  K infinity, finite;  // the lesser number of the two infinities, and the difference to the greater one
  K nan;               // what the numbers of NaN become

  UPSWEEP_HD K operator()(K key) const { return merged(number(key)); }
  UPSWEEP_HD K number(K key) const { return all.number(key); }
  UPSWEEP_HD K key(K number) const { return all.key(number); }
  // Numbers that are NaN's lie beyond both infinities: one comparison, modulo 2^width, finds them.
  UPSWEEP_HD K merged(K number) const {
    const K one_zero = number == minus_zero ? zero : number;
    return static_cast<K>(number - infinity) > finite ? nan : one_zero;
  }
  // Returns the number of a key that no key comes after if bits below `end_bit` are compared. Ascending that is NaN;
  // descending, where NaN comes first, -inf, or +0 if the highest bit is not compared.
  UPSWEEP_HD K last(unsigned end_bit) const {
    if (nan != 0) return static_cast<K>(~K(0));
    return end_bit < 8 * sizeof(K) ? zero : static_cast<K>(infinity + finite);
  }
  UPSWEEP_HD const KeyOrder<K>& total() const { return all; }
  UPSWEEP_HD bool by_value() const { return zero != minus_zero; }
  UPSWEEP_HD bool descending() const { return all.descending(); }
};

template <class T>
using OrderOf = std::conditional_t<std::is_floating_point_v<T>, FloatKeyOrder<UnsignedAs<T>>, KeyOrder<UnsignedAs<T>>>;

template <class T>
OrderOf<T> key_order(Order order, FloatOrder floats) {
  using K = UnsignedAs<T>;
  constexpr K top = static_cast<K>(K(1) << (8 * sizeof(K) - 1));
  const K all = order == Order::descending ? static_cast<K>(~K(0)) : K(0);
  if constexpr (std::is_floating_point_v<T>) {
    const KeyOrder<K> total{static_cast<K>(top ^ all), static_cast<K>(~top)};
    if (floats == FloatOrder::total_order) return {total, 0, 0, 0, static_cast<K>(~K(0)), static_cast<K>(~K(0))};
    // The bits of infinity: the exponent's are set.
    constexpr unsigned mantissa = std::numeric_limits<T>::digits - 1;
    constexpr K inf = static_cast<K>(static_cast<K>(~top) >> mantissa << mantissa);
    // -inf and +inf have each other's complement, so that they bound the finite numbers in both directions.
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
