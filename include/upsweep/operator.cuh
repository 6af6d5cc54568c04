// What an operator of one's own has to be, for a .cu.
#pragma once
#include <concepts>

#include "upsweep/types.h"

namespace upsweep {

// An associative operator, callable on the device, with its neutral element; copied to the device, so it may carry
// values (a modulus) but no host memory:
//   struct Xor {
//     template <class T> UPSWEEP_HD static constexpr T neutral() { return 0; }
//     template <class T> UPSWEEP_HD constexpr T operator()(T a, T b) const { return a ^ b; }
//   };
template <class O, class T>
concept DeviceOperator = requires(const O op, T a) {
  { op(a, a) } -> std::convertible_to<T>;
  { O::template neutral<T>() } -> std::convertible_to<T>;
};

}  // namespace upsweep
