// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// Call::scalars
enum ScalarIndex : std::size_t { first_bit, bits };

constexpr Type offset_type(std::size_t n) { return wide(n) ? Type::u64 : Type::u32; }

inline std::size_t bucket_count(const Call& c) {
  if (c.operation.as<Bucketing>() == Bucketing::splitters) return c.in[2].count + 1;
  return std::size_t{1} << c.scalars[bits].as<std::uint64_t>();
}

// Bytes per key of the values; 0 without values.
inline unsigned value_bytes(const Call& c) { return c.n() == 0 ? 0 : static_cast<unsigned>(c.in[1].bytes() / c.n()); }

struct Binding : EnumeratorChoice<Bucketing, By, bucketing_names.size()> {
  static constexpr std::string_view primitive = "partition";
  template <class T, class O>
  static constexpr bool takes = std::is_unsigned_v<T> && sizeof(T) >= 4;  // u32 u64
  template <class T, class O>
  static Args<T, O> args(const Call& c) {
    return {c.execution(),
            {c.in[0].as<const T>(), c.n(), buckets<T, O>(c)},
            c.out[0].as<T>(),
            {c.in[1].data, c.out[1].data, value_bytes(c)},
            {c.out[2].data, wide(c.n())}};
  }

 private:
  template <class T, class O>
  static Buckets<T, O> buckets(const Call& c) {
    const auto count = static_cast<unsigned>(bucket_count(c));
    if constexpr (O::bucketing == Bucketing::digit)
      return {static_cast<unsigned>(c.scalars[first_bit].as<std::uint64_t>()), count};
    else
      return {c.in[2].as<const T>(), count};
  }
};

}  // namespace upsweep::ladders::partition
