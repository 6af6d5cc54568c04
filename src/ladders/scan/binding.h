// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/scan/contract.h"
#include "upsweep/parameters/scan.h"

namespace upsweep::ladders::scan {

inline constexpr ListedOperation operations[] = {
    {.operation = Op::sum, .typical = true}, {.operation = Op::min}, {.operation = Op::max}};

struct Binding : OperatorChoice {
  static constexpr std::string_view primitive = "scan";
  static constexpr auto& operations = ladders::scan::operations;
  template <class T, class Op>
  static constexpr bool takes = lists<Op>(operations);
  template <class T, class Op>
  static Args<T, Op> args(const Call& c) {
    const bool inclusive = scan_scalars.read(c.scalars).inclusive;
    return {c.execution(), c.in[0].as<const T>(), c.out[0].as<T>(), c.n(), inclusive, Op{}};
  }
};

}  // namespace upsweep::ladders::scan
