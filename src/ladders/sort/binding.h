// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/partition/binding.h"
#include "ladders/sort/contract.h"

namespace upsweep::ladders::sort {

// Call::scalars
enum ScalarIndex : std::size_t { first_bit, bits, float_order };

using partition::wide;
constexpr Type index_type(std::size_t n) { return wide(n) ? Type::u64 : Type::u32; }

// True if a call wants the indices of its keys. Without keys there are no values either, and it wants nothing.
inline bool wants_indices(const Call& c) { return c.n() > 0 && c.in[1].count == 0 && c.out[1].count > 0; }

// Bytes per key of the values, or of the indices; 0 without both.
inline unsigned value_bytes(const Call& c) {
  if (wants_indices(c)) return static_cast<unsigned>(size_of(c.out[1].type));
  return partition::value_bytes(c);
}

// The order is a number that the kernels are given, not a type: both directions run the same code.
struct Binding : SingleOperation {
  static constexpr std::string_view primitive = "sort";
  template <class T, class O>
  static Args<T, O> args(const Call& c) {
    using Key = UnsignedAs<T>;
    return {c.execution(),
            c.in[0].as<const Key>(),
            c.n(),
            c.out[0].count ? c.out[0].as<Key>() : nullptr,
            {wants_indices(c) ? nullptr : c.in[1].data, c.out[1].data, value_bytes(c)},
            key_order<T>(c.operation.as<Order>(), c.scalars[float_order].as<FloatOrder>()),
            static_cast<unsigned>(c.scalars[first_bit].as<std::uint64_t>()),
            static_cast<unsigned>(c.scalars[bits].as<std::uint64_t>())};
  }
};

}  // namespace upsweep::ladders::sort
