// Binding of the ceilings, which take u32 only. Their rungs read the Call directly instead of typed arguments.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/typed_rung.h"
#include "ladders/ceiling/contract.h"

namespace upsweep::ladders::ceiling {

struct Binding : SingleOperation {
  static constexpr std::string_view primitive = "ceiling";
  template <class T, class>
  static constexpr bool takes = std::is_same_v<T, std::uint32_t>;
};

}  // namespace upsweep::ladders::ceiling
