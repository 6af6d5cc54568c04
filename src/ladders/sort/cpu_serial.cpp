// sort/serial: the definition; a stable pass per byte of the keys' numbers, lowest first.
#include <algorithm>
#include <array>
#include <numeric>
#include <type_traits>
#include <utility>

#include "ladders/sort/binding.h"

namespace upsweep::ladders::sort {

namespace {  // a rung of the same name may exist on the GPU

struct serial {
  static constexpr Story story{
      .idea = "least significant byte first: each pass counts the keys, scans the counts, and moves the keys stably",
      .prediction =
          "two reads and a write of every element per byte; a miss per key once 256 bucket ends exceed the TLB",
      .guarantees = "stable",
      .limits = "any n; scratch for two copies",
      .source = "Knuth, The Art of Computer Programming 3, 5.2.5 (radix sorting)"};
  static constexpr bool takes_scratch = true;

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    using Key = typename Args<T, O>::Key;
    const std::size_t n = a.n, value = a.values.bytes;
    if (n == 0) return {};
    Scratch scratch(*a.workspace);
    auto *values = scratch.take<std::byte>(n * value), *moved_values = scratch.take<std::byte>(n * value);
    auto *keys = scratch.take<Key>(n), *moved = scratch.take<Key>(n);
    if (!scratch) return no_memory;
    if (a.stream.dry) return {};
    std::copy_n(a.keys, n, keys);
    if (a.indices())
      Values{nullptr, values, a.values.bytes}.visit([n]<class V>(const V*, V* all) {
        if constexpr (std::is_integral_v<V>) std::iota(all, all + n, V{0});
      });
    else
      std::copy_n(static_cast<const std::byte*>(a.values.in), n * value, values);

    for (unsigned bit = a.first_bit, end = a.first_bit + a.bits; bit < end; bit += 8) {
      const unsigned mask = (1u << std::min(end - bit, 8u)) - 1;
      const auto digit = [&](Key key) { return static_cast<unsigned>(a.order(key) >> bit) & mask; };
      std::array<std::size_t, 256> next{};
      for (std::size_t i = 0; i < n; ++i) ++next[digit(keys[i])];
      if (std::find(next.begin(), next.end(), n) != next.end()) continue;  // all keys agree
      std::size_t before = 0;
      for (std::size_t& place : next) before += std::exchange(place, before);
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t place = next[digit(keys[i])]++;
        moved[place] = keys[i];
        Values{values, moved_values, a.values.bytes}.move(i, place);
      }
      std::swap(keys, moved);
      std::swap(values, moved_values);
    }
    if (a.out) std::copy_n(keys, n, a.out);
    std::copy_n(values, n * value, static_cast<std::byte*>(a.values.out));
    return {};
  }
};

}  // namespace

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::sort
