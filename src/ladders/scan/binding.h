// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {

struct Binding : OperatorChoice {
  static constexpr std::string_view primitive = "scan";
  template <class T, class Op>
  static constexpr bool takes = !std::is_same_v<Op, Product>;
  template <class T, class Op>
  static Args<T, Op> args(const Call& c) {
    return {c.execution(), c.in[0].as<const T>(), c.out[0].as<T>(), c.n(), c.scalars[0].as<bool>(), Op{}};
  }
};

}  // namespace upsweep::ladders::scan
