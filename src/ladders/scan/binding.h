// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/scan/contract.h"
#include "upsweep/parameters/scan.h"

namespace upsweep::ladders::scan {

inline constexpr ListedOperation operations[] = {{.operation = Op::sum, .typical = true},
                                                 {.operation = Op::product},
                                                 {.operation = Op::min},
                                                 {.operation = Op::max}};

struct Binding : OperatorChoice {
  static constexpr std::string_view primitive = "scan";
  static constexpr auto& operations = ladders::scan::operations;
  static constexpr bool takes_halves = true;
  template <class T, class Op>
  static constexpr bool takes = lists<Op>(operations) && (sizeof(T) >= 4 || !std::is_same_v<Op, Product>) &&
                                (!is_half<T> || std::is_same_v<Op, Sum>);
  template <class T, class Op>
  static constexpr bool computes_wider = is_half<T>;
  template <class T, class Op, class Out = T>
  static Args<T, Op, Out> args(const Call& c) {
    const Scanning scalars = scan_scalars.read(c.scalars);
    return {c.execution(),
            c.in[0].as<const T>(),
            c.out[0].as<Out>(),
            c.n(),
            scalars.inclusive,
            Op{},
            initial_of<Out, Op>(scalars.initial)};
  }
  static Type output_type(const Call& c) { return sum_type(c); }
  static Scalar initial(const Call& c) { return scan_scalars.read(c.scalars).initial; }
};

}  // namespace upsweep::ladders::scan
