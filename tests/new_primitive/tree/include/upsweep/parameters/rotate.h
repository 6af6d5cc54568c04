// The scalars of upsweep/rotate.h.
#pragma once
#include <cstdint>

#include "upsweep/parameter.h"

namespace upsweep {

struct Rotation {
  std::uint64_t by = 1;
};
inline constexpr ScalarTable rotate_scalars{
    scalar<&Rotation::by>({.name = "by", .meaning = "elements to the left", .most = 0x1p53})};

}  // namespace upsweep
