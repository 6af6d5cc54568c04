// Atomic updates with any operator.
#pragma once
#include <cstring>

#include "kernel/kernel.h"

namespace upsweep {

// Atomically sets *address to op(*address, value): a sum by the hardware's atomic add for the type, everything else by
// a compare-and-swap loop on the bits. T has 4 or 8 bytes.
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
