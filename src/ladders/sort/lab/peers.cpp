// Other libraries' CPU implementations of the same contract, compiled for this machine.
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <execution>
#include <functional>

#if defined(UPSWEEP_WITH_VQSORT)
#define HWY_WANT_AVX3_DL  // without it, Highway 1.0.3 does not compile if the compiler flags include AVX3_DL
#include <hwy/contrib/sort/vqsort.h>
#include <hwy/highway.h>
#endif

#include "ladders/sort/lab/sort_array.h"

namespace upsweep::ladders::sort {

Rungs boost_peers();  // boost_peers.cpp

namespace {

// True for keys without values. If their bits also compare in the requested order, equal keys are identical, so an
// unstable sort will do.
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

#if defined(UPSWEEP_WITH_VQSORT)
const std::string vqsort_version = lab::version_text("Highway", HWY_MAJOR, HWY_MINOR, HWY_PATCH);

struct vqsort {
  static constexpr Story story{
      .idea = "hwy::Sorter, one core; sorts ranks unless keys are unsigned; pairs as words of 64 bits",
      .guarantees = "not stable",
      .limits = "all bits; keys of 2, 4 and 8 bytes without values, or of 4 with 4-byte values",
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
    // Keys are sorted as numbers, distinct for distinct keys. For floats in their default order, the numbers are
    // rotated so that NaN of both signs are at one end.
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
    Scratch scratch(*a.workspace);
    auto* const words = scratch.take<std::uint64_t>(a.n);
    if (!scratch) return no_memory;
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
  static const lab::PeerList peers = [] {
    lab::PeerList all{lab::peer<Binding, one_core>("std::sort", lab::std_version),
                      lab::peer<Binding, par>("std::sort(par)", lab::tbb_version),
                      lab::peer<Binding, tbb_sort>("tbb::parallel_sort", lab::tbb_version)};
#if defined(UPSWEEP_WITH_VQSORT)
    all.add(lab::peer<Binding, vqsort>("vqsort", vqsort_version));
#endif
#if defined(UPSWEEP_WITH_BOOST_SORT)
    for (const Rung* peer : boost_peers()) all.add(*peer);
#endif
    return all;
  }();
  return peers;
}

}  // namespace upsweep::ladders::sort
