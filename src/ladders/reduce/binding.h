// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/reduce/contract.h"

namespace upsweep::ladders::reduce {

inline constexpr ListedOperation operations[] = {{.operation = Op::sum, .typical = true},
                                                {.operation = Op::product},
                                                {.operation = Op::min},
                                                {.operation = Op::max}};

struct Binding : OperatorChoice {
  static constexpr std::string_view primitive = "reduce";
  static constexpr auto& operations = ladders::reduce::operations;
  template <class T, class Op>
  static constexpr bool takes = sizeof(T) >= 4;  // i32 u32 i64 u64 f32 f64
  template <class T, class Op>
  static Args<T, Op> args(const Call& c) {
    return {c.execution(), c.in[0].as<const T>(), c.out[0].as<T>(), c.n(), Op{}};
  }
};

}  // namespace upsweep::ladders::reduce
