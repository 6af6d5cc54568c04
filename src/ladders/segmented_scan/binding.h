// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/segmented_scan/contract.h"

namespace upsweep::ladders::segmented_scan {

// The element type of the array of heads.
constexpr Type element_of(HeadKind kind) {
  return kind == HeadKind::flags ? Type::u8 : kind == HeadKind::keys ? Type::u32 : Type::u64;
}

struct Binding : OperatorChoice {
  static constexpr std::string_view primitive = "segmented_scan";
  template <class T, class Op>
  static constexpr bool takes = !std::is_same_v<Op, Product>;
  template <class T, class Op>
  static Args<T, Op> args(const Call& c) {
    return {c.execution(),
            c.in[0].as<const T>(),
            {c.scalars[1].as<HeadKind>(), c.in[1].data, c.in[1].count},
            c.out[0].as<T>(),
            c.n(),
            c.scalars[0].as<bool>(),
            Op{}};
  }
};

}  // namespace upsweep::ladders::segmented_scan
