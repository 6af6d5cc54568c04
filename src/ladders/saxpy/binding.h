// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/saxpy/contract.h"

namespace upsweep::ladders::saxpy {

struct Binding : SingleOperation {
  static constexpr std::string_view primitive = "saxpy";
  template <class T, class>
  static Args<T> args(const Call& c) {
    return {c.execution(), c.in[0].as<const T>(), c.in[1].as<const T>(), c.out[0].as<T>(),
            c.n(),         {c.scalars[0].as<T>()}};
  }
};

}  // namespace upsweep::ladders::saxpy
