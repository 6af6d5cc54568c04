// Other libraries with the same contract on the CPU, compiled for this machine. They sort one array in place, so keys
// are copied to the output first; keys with values become an array of pairs, and two arrays again afterwards: all cores
// copy, and the time counts, because the contract has separate arrays.
#include "lab/peers.h"

#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <execution>
#include <functional>

#if defined(UPSWEEP_WITH_BOOST_SORT)
#include <boost/sort/block_indirect_sort/block_indirect_sort.hpp>
#include <boost/sort/spreadsort/integer_sort.hpp>
#include <boost/version.hpp>
#endif
#if defined(UPSWEEP_WITH_VQSORT)
#define HWY_WANT_AVX3_DL  // without it Highway 1.0.3 does not compile where the compiler's flags include AVX3_DL
#include <hwy/contrib/sort/vqsort.h>
#include <hwy/highway.h>
#endif

#include "lab/parts.h"
#include "ladders/sort/binding.h"

namespace upsweep::ladders::sort {
namespace {

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

// A key's place in the order that is asked for.
template <class Order>
struct Rank {
  using K = typename Order::Key;
  Order order;
  unsigned first_bit;
  K mask;
  K operator()(K key) const { return static_cast<K>(order(key) >> first_bit) & mask; }
};
// The same, where the keys themselves compare as they are to.
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

// Keys in the order of their unsigned bits need no rank.
template <class T, class O>
bool is_plain(const Args<T, O>& a) {
  return a.bits == 8 * sizeof(T) && !a.order.total().flip && !a.order.total().negative;
}
template <class T, class O>
auto rank_of(const Args<T, O>& a) {
  using Key = typename Args<T, O>::Key;
  return Rank<OrderOf<T>>{a.order, a.first_bit, static_cast<Key>(static_cast<Key>(-1) >> (8 * sizeof(Key) - a.bits))};
}

// Lets a peer sort one array, of keys or of pairs.
template <class Peer, class T, class O>
Status sort_array(const Args<T, O>& a) {
  using Key = typename Args<T, O>::Key;
  const auto sorted = [&](auto* elements) {
    if (is_plain(a))
      Peer::sort(elements, elements + a.n, Before<Plain>{});
    else
      Peer::sort(elements, elements + a.n, Before<Rank<OrderOf<T>>>{rank_of(a)});
  };
  Status status;
  if (a.values.bytes == 0) {
    for_each_part(a.n, [&](std::size_t, std::size_t begin, std::size_t end) {
      if (a.out != a.keys) std::copy(a.keys + begin, a.keys + end, a.out + begin);
    });
    sorted(a.out);
  }
  a.values.visit([&]<class V>(const V* values, V* moved) {
    if constexpr (std::is_integral_v<V>) {
      auto* const pairs = static_cast<Pair<Key, V>*>(a.workspace->scratch(a.n * sizeof(Pair<Key, V>)));
      if (!pairs) return void(status = no_memory);
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
      status = {Code::unsupported, 0, "this peer takes values of 4 and 8 bytes"};
    }
  });
  return status;
}

constexpr std::string_view limits = "keys of 4 and 8 bytes, values of 4 and 8";

// The base of the peers whose sort(begin, end, Before) sorts one array.
template <class Peer>
struct OfArray {
  template <class T, class O>
  static constexpr bool supports = sizeof(T) >= 4;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return sort_array<Peer>(a);
  }
};

// A bare array of keys that compare as they are can be sorted by an unstable sort: equal ones are the same.
template <class E>
inline constexpr bool bare = std::is_integral_v<E>;

struct one_core : OfArray<one_core> {
  static constexpr Story story{.idea = "std::sort, one core; std::stable_sort where equal keys can be told apart",
                               .guarantees = "stable",
                               .limits = limits,
                               .source = "libstdc++"};
  template <class E, class R>
  static void sort(E* begin, E* end, Before<R> before) {
    if constexpr (bare<E> && std::is_same_v<R, Plain>)
      std::sort(begin, end);
    else
      std::stable_sort(begin, end, before);
  }
};

struct par : OfArray<par> {
  static constexpr Story story{
      .idea = "std::sort(std::execution::par); std::stable_sort where equal keys can be told apart",
      .guarantees = "stable",
      .limits = limits,
      .source = "libstdc++, oneTBB"};
  template <class E, class R>
  static void sort(E* begin, E* end, Before<R> before) {
    if constexpr (bare<E> && std::is_same_v<R, Plain>)
      std::sort(std::execution::par, begin, end);
    else
      std::stable_sort(std::execution::par, begin, end, before);
  }
};

struct tbb_sort : OfArray<tbb_sort> {
  static constexpr Story story{
      .idea = "oneapi::tbb::parallel_sort", .guarantees = "not stable", .limits = limits, .source = "oneTBB"};
  static constexpr bool any_order = true;
  template <class E, class R>
  static void sort(E* begin, E* end, Before<R> before) {
    if constexpr (bare<E> && std::is_same_v<R, Plain>)
      oneapi::tbb::parallel_sort(begin, end);
    else
      oneapi::tbb::parallel_sort(begin, end, before);
  }
};

#if defined(UPSWEEP_WITH_BOOST_SORT)
constexpr std::string_view boost_version = "Boost " BOOST_LIB_VERSION;

struct boost_block : OfArray<boost_block> {
  static constexpr Story story{
      .idea = "boost::sort::block_indirect_sort", .guarantees = "not stable", .limits = limits, .source = "Boost.Sort"};
  static constexpr bool any_order = true;
  template <class E, class R>
  static void sort(E* begin, E* end, Before<R> before) {
    boost::sort::block_indirect_sort(begin, end, before);
  }
};

struct boost_spread : OfArray<boost_spread> {
  static constexpr Story story{.idea = "boost::sort::spreadsort::integer_sort, one core",
                               .guarantees = "not stable",
                               .limits = limits,
                               .source = "Boost.Sort"};
  static constexpr bool any_order = true;
  template <class E, class R>
  static void sort(E* begin, E* end, Before<R> before) {
    const auto shifted = [=](const E& e, unsigned by) { return before.rank(key_of(e)) >> by; };
    boost::sort::spreadsort::integer_sort(begin, end, shifted, before);
  }
};
#endif

#if defined(UPSWEEP_WITH_VQSORT)
const std::string vqsort_version = lab::version_text("Highway", HWY_MAJOR, HWY_MINOR, HWY_PATCH);

struct vqsort {
  static constexpr Story story{
      .idea = "hwy::Sorter, one core; of types other than unsigned numbers, the ranks; pairs as words of 64 bits",
      .guarantees = "not stable",
      .limits = "every bit; keys of 2, 4 and 8 bytes alone, or of 4 with values of 4",
      .source = "Wassenberg et al., Vectorized and performance-portable Quicksort, 2022"};
  static constexpr bool any_order = true;
  template <class T, class O>
  static constexpr bool supports = sizeof(T) >= 2;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    using Key = typename Args<T, O>::Key;
    static hwy::Sorter sort;
    const bool pairs = sizeof(T) == 4 && a.values.bytes == 4;
    if (a.bits != 8 * sizeof(T) || (a.values.bytes && !pairs))
      return {Code::unsupported, 0, "vqsort takes whole keys, with values only if both have 4 bytes"};
    // A number of each key's own: of floats in their default order, turned until NaN of either sign is at the same end.
    const KeyOrder<Key> total = a.order.total();
    Key turn = 0;
    if constexpr (std::is_floating_point_v<T>)
      turn = a.order.descending() ? a.order.infinity : Key(0) - a.order.infinity;
    const auto rank = [=](Key key) { return static_cast<Key>(total.number(key) + turn); };
    const auto key_of_rank = [=](Key word) { return total.key(static_cast<Key>(word - turn)); };
    if (!pairs) {
      for_each_part(a.n, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) a.out[i] = rank(a.keys[i]);
      });
      sort(a.out, a.n, hwy::SortAscending());
      if (!is_plain(a))
        for_each_part(a.n, [&](std::size_t, std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) a.out[i] = key_of_rank(a.out[i]);
        });
      return {};
    }
    auto* const words = static_cast<std::uint64_t*>(a.workspace->scratch(a.n * sizeof(std::uint64_t)));
    if (!words) return no_memory;
    const auto* const values = static_cast<const std::uint32_t*>(a.values.in);
    for_each_part(a.n, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        words[i] = std::uint64_t{rank(a.keys[i])} << 32 | (values ? values[i] : static_cast<std::uint32_t>(i));
    });
    sort(words, a.n, hwy::SortAscending());
    for_each_part(a.n, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (a.out) a.out[i] = key_of_rank(static_cast<Key>(words[i] >> 32));
        static_cast<std::uint32_t*>(a.values.out)[i] = static_cast<std::uint32_t>(words[i]);
      }
    });
    return {};
  }
};
#endif

}  // namespace

Rungs cpu_peers() {
  static const lab::PeerList peers {
    lab::peer<Binding, one_core>("std::sort", lab::std_version),
        lab::peer<Binding, par>("std::sort(par)", lab::tbb_version),
        lab::peer<Binding, tbb_sort>("tbb::parallel_sort", lab::tbb_version),
#if defined(UPSWEEP_WITH_VQSORT)
        lab::peer<Binding, vqsort>("vqsort", vqsort_version),
#endif
#if defined(UPSWEEP_WITH_BOOST_SORT)
        lab::peer<Binding, boost_block>("boost::block_indirect_sort", boost_version),
        lab::peer<Binding, boost_spread>("boost::spreadsort", boost_version),
#endif
  };
  return peers;
}

}  // namespace upsweep::ladders::sort
