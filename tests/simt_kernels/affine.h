// Functions x -> a * x + b of 32-bit words, and their composition: associative but not commutative.
#pragma once
#include <cstdint>

#include "upsweep/types.h"

namespace upsweep::test {

struct Affine {
  std::uint32_t a, b;
  bool operator==(const Affine&) const = default;
};

// Applies f, then g.
struct Compose {
  Op operation = Op::sum;  // must not mark the operator as commutative, as a constant member of that name does
  template <class T>
  UPSWEEP_HD static constexpr T neutral() {
    return {1, 0};
  }
  UPSWEEP_HD constexpr Affine operator()(Affine f, Affine g) const { return {f.a * g.a, f.b * g.a + g.b}; }
};

}  // namespace upsweep::test
