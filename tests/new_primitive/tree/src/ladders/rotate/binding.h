// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/rotate/contract.h"

namespace upsweep::ladders::rotate {

struct Binding : SingleOperation {
  static constexpr std::string_view primitive = "rotate";
  template <class T, class>
  static Args<T> args(const Call& c) {
    const std::size_t n = c.n(), by = rotate_scalars.read(c.scalars).by;
    return {c.execution(), c.in[0].as<const T>(), c.out[0].as<T>(), n, n > 0 ? by % n : 0};
  }
};

}  // namespace upsweep::ladders::rotate
