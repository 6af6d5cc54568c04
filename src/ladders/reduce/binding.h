// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/reduce/contract.h"
#include "upsweep/parameters/reduce.h"

namespace upsweep::ladders::reduce {

inline constexpr ListedOperation operations[] = {{.operation = Op::sum, .typical = true},
                                                 {.operation = Op::product},
                                                 {.operation = Op::min},
                                                 {.operation = Op::max}};

struct Binding : OperatorChoice {
  static constexpr std::string_view primitive = "reduce";
  static constexpr auto& operations = ladders::reduce::operations;
  template <class T>
  static constexpr bool writes = sizeof(T) >= 4;  // i32 u32 i64 u64 f32 f64
  template <class T, class Op>
  static constexpr bool takes = writes<T> || has_wider_sums<T, Op>();
  template <class T, class Op, class Out = T>
  static Args<T, Op, Out> args(const Call& c) {
    return {c.execution(), c.in[0].as<const T>(), c.out[0].as<Out>(), c.n(), Op{}, initial_of<Out, Op>(initial(c))};
  }
  // Sums of bytes are u64 unless the caller asks for u32.
  static Type output_type(const Call& c) {
    const Type type = sum_type(c);
    return type == Type::u8 && c.operation == Operation(Op::sum) ? Type::u64 : type;
  }
  static Scalar initial(const Call& c) { return reduce_scalars.read(c.scalars).initial; }
};

}  // namespace upsweep::ladders::reduce
