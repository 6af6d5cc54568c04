// Atomic updates with any operator.
#pragma once
#include <cstring>

#include "kernel/kernel.h"

namespace upsweep {

// *address = op(*address, value), atomically. Sums use the hardware's atomic add for the type; everything else retries
// a compare-and-swap on the bits.
template <class T, class Op>
__device__ __forceinline__ void atomic_combine(T* address, T value, Op op) {
  if constexpr (std::is_same_v<Op, Sum> && sizeof(T) == 8 && std::is_integral_v<T>) {
    atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value));
  } else if constexpr (std::is_same_v<Op, Sum>) {
    atomicAdd(address, value);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
    Bits* const bits = reinterpret_cast<Bits*>(address);
    Bits seen = atomicOr(bits, Bits(0)), expected;  // an atomic read
    do {
      expected = seen;
      T current;
      memcpy(&current, &expected, sizeof current);
      const T combined = op(current, value);
      Bits desired;
      memcpy(&desired, &combined, sizeof desired);
      seen = atomicCAS(bits, expected, desired);
    } while (seen != expected);
  }
}

}  // namespace upsweep
