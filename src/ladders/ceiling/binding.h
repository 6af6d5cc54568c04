// Makes Rungs of structs with a Story and Status run(const Call&).
#pragma once
#include "base/typed_rung.h"
#include "ladders/ceiling/contract.h"

namespace upsweep::ladders::ceiling {

template <class R>
constexpr Rung make_rung(std::string_view name, Backend backend) {
  return make_rung_with<R>("ceiling", name, backend,
                           [](Type type, Operation) -> RunFn { return type == Type::u32 ? &R::run : nullptr; });
}

}  // namespace upsweep::ladders::ceiling
