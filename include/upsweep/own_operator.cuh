// The requirements on a user-defined operator in a .cu file.
#pragma once
#include <concepts>

#include "upsweep/types.h"

namespace upsweep {

// An associative operator with its neutral element, callable on the device. It is copied to the device, so it may hold
// values (a modulus) but no pointers to host memory:
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
