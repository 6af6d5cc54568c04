// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/sort/contract.h"

namespace upsweep::ladders::sort {

// Kernels take the order as data, not as a type: both directions run the same code.
struct Binding : SingleOperation {
  static constexpr std::string_view primitive = "sort";
  static constexpr bool takes_halves = true;
  template <class T, class O>
  static Args<T, O> args(const Call& c) {
    using Key = UnsignedAs<T>;
    const Sorting how = sort_scalars.read(c.scalars);
    return {{c.execution(),
             c.in[0].as<const Key>(),
             c.n(),
             c.out[0].count ? c.out[0].as<Key>() : nullptr,
             {wants_indices(c) ? nullptr : c.in[1].data, c.out[1].data, value_bytes(c)},
             key_order<T>(c.operation.as<Order>(), how.float_order),
             static_cast<unsigned>(how.first_bit),
             static_cast<unsigned>(*how.bits)}};
  }
};

}  // namespace upsweep::ladders::sort
