// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

inline constexpr ListedOperation operations[] = {{.operation = Bucketing::digit, .typical = true},
                                                 {.operation = Bucketing::splitters}};

struct Binding : EnumeratorChoice<Bucketing, By, bucketing_names.size()> {
  static constexpr std::string_view primitive = "partition";
  static constexpr auto& operations = ladders::partition::operations;
  template <class T, class O>
  static constexpr bool takes = std::is_unsigned_v<T> && sizeof(T) >= 4;  // u32 u64
  template <class T, class O>
  static Args<T, O> args(const Call& c) {
    return {c.execution(),
            {c.in[0].as<const T>(), c.n(), buckets<T, O>(c)},
            c.out[0].as<T>(),
            {c.in[1].data, c.out[1].data, value_bytes(c)},
            {c.out[2].data, size_of(c.out[2].type) == 8}};
  }

 private:
  template <class T, class O>
  static Buckets<T, O> buckets(const Call& c) {
    const auto count = static_cast<unsigned>(bucket_count(c));
    if constexpr (O::operation == Bucketing::digit)
      return {static_cast<unsigned>(partition_scalars.read(c.scalars).first_bit), count};
    else
      return {c.in[2].as<const T>(), count};
  }
};

}  // namespace upsweep::ladders::partition
