// Makes a peer of a library's in-place sort of one array. Keys alone are first copied to the output; keys with
// values are packed into an array of pairs and unpacked afterwards. All cores copy, and the copies are timed, because
// the contract has separate arrays.
#pragma once
#include <algorithm>

#include "lab/parts.h"
#include "lab/peers.h"
#include "ladders/sort/binding.h"

namespace upsweep::ladders::sort {

template <class K, class V>
struct Pair {
  K key;
  V value;
};
template <class K>
K key_of(K key) {
  return key;
}
template <class K, class V>
K key_of(const Pair<K, V>& pair) {
  return pair.key;
}

// Maps a key to its rank in the requested order.
template <class Order>
struct Rank {
  using K = typename Order::Key;
  Order order;
  unsigned first_bit;
  K mask;
  K operator()(K key) const { return static_cast<K>(order(key) >> first_bit) & mask; }
};
// The identity, for keys whose bits already compare in the requested order.
struct Plain {
  template <class K>
  K operator()(K key) const {
    return key;
  }
};
template <class R>
struct Before {
  R rank;
  template <class E>
  bool operator()(const E& a, const E& b) const {
    return rank(key_of(a)) < rank(key_of(b));
  }
};

// True if keys already compare by their unsigned bits: they need no rank.
template <class Order>
bool is_plain(const KeyArgs<Order>& a) {
  return a.bits == 8 * sizeof(typename Order::Key) && !a.order.total().flip && !a.order.total().negative;
}
template <class Order>
auto rank_of(const KeyArgs<Order>& a) {
  using Key = typename Order::Key;
  return Rank<Order>{a.order, a.first_bit, static_cast<Key>(static_cast<Key>(-1) >> (8 * sizeof(Key) - a.bits))};
}

// Runs a peer on one array, of keys or of pairs. i32 and u32 share one instance.
template <class Peer, class Order>
Status sort_array(const KeyArgs<Order>& a) {
  using Key = typename Order::Key;
  const auto sorted = [&](auto* elements) {
    if constexpr (!Order::merges && lab::peers_for_every_type)  // only unsigned keys need no rank
      if (is_plain(a)) return Peer::sort(elements, elements + a.n, Before<Plain>{});
    Peer::sort(elements, elements + a.n, Before<Rank<Order>>{rank_of(a)});
  };
  Status status;
  if (a.values.bytes == 0) {
    for_each_part(a.n, [&](std::size_t, std::size_t begin, std::size_t end) {
      if (a.out != a.keys) std::copy(a.keys + begin, a.keys + end, a.out + begin);
    });
    sorted(a.out);
  }
  a.values.visit([&]<class V>(const V* values, V* moved) {
    if constexpr (std::is_integral_v<V> && (sizeof(V) == 4 || lab::peers_for_every_type)) {
      Scratch scratch(*a.workspace);
      auto* const pairs = scratch.take<Pair<Key, V>>(a.n);
      if (!scratch) return void(status = no_memory);
      for_each_part(a.n, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) pairs[i] = {a.keys[i], values ? values[i] : static_cast<V>(i)};
      });
      sorted(pairs);
      for_each_part(a.n, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          if (a.out) a.out[i] = pairs[i].key;
          moved[i] = pairs[i].value;
        }
      });
    } else {
      status = {Code::unsupported, 0, lab::peers_for_every_type ? "this peer takes values of 4 and 8 bytes"
                                                              : "this peer is compiled for values of 4 bytes"};
    }
  });
  return status;
}

constexpr std::string_view limits = "keys of 4 and 8 bytes, values of 4 and 8";

// Base of the peers whose sort(begin, end, Before) sorts one array.
template <class Peer>
struct OfArray {
  template <class T, class O>
  static constexpr bool supports = sizeof(T) >= 4;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return sort_array<Peer, OrderOf<T>>(a);
  }
};

}  // namespace upsweep::ladders::sort
