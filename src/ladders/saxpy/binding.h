// Binds a Call to a rung's Args; for units that make Rungs.
#pragma once
#include "base/typed_rung.h"
#include "ladders/saxpy/contract.h"

namespace upsweep::ladders::saxpy {

struct Binding : SingleOperation {
  static constexpr std::string_view primitive = "saxpy";
  template <class T, class>
  static Args<T> args(const Call& c) {
    return {c.in[0].as<const T>(),
            c.in[1].as<const T>(),
            c.out[0].as<T>(),
            c.n(),
            {c.scalars[0].as<T>()},
            c.tuning,
            c.workspace,
            c.stream};
  }
};

// make_rung<R>(name, backend): R has a Story and Status run<T, NoOperation>(const Args<T>&).
template <class R>
inline constexpr auto* make_rung = &make_typed_rung<Binding, R>;

}  // namespace upsweep::ladders::saxpy
