// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/segmented_scan/contract.h"

namespace upsweep::ladders::segmented_scan {

// Returns the element type of the array of heads.
constexpr Type element_of(HeadKind kind) {
  return kind == HeadKind::flags ? Type::u8 : kind == HeadKind::keys ? Type::u32 : Type::u64;
}

inline constexpr ListedOperation operations[] = {
    {.operation = Op::sum, .typical = true}, {.operation = Op::min}, {.operation = Op::max}};

struct Binding : OperatorChoice {
  static constexpr std::string_view primitive = "segmented_scan";
  static constexpr auto& operations = ladders::segmented_scan::operations;
  template <class T, class Op>
  static constexpr bool takes = lists<Op>(operations);
  template <class T, class Op, class Out = T>
  static Args<T, Op, Out> args(const Call& c) {
    const SegmentedScanning how = segmented_scan_scalars.read(c.scalars);
    return {c.execution(),
            c.in[0].as<const T>(),
            {how.heads, c.in[1].data, c.in[1].count},
            c.out[0].as<Out>(),
            c.n(),
            how.inclusive,
            Op{},
            initial_of<Out, Op>(how.initial)};
  }
  static Type output_type(const Call& c) { return sum_type(c); }
  static Scalar initial(const Call& c) { return segmented_scan_scalars.read(c.scalars).initial; }
};

}  // namespace upsweep::ladders::segmented_scan
