// A store with L2's evict-last policy.
#pragma once
#include <type_traits>

#include "kernel/kernel.h"

namespace upsweep {

// Stores an element to a sector that another block writes too: a sector that L2 evicts before it is complete costs a
// read from memory and another write. Half of the stores of 4- and 8-byte integers therefore ask L2 to evict their
// lines last.
template <class T>
__device__ __forceinline__ void store_evict_last(T* to, T v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)) {
    const std::size_t address = __cvta_generic_to_global(to);
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policy));
    if constexpr (sizeof(T) == 4)
      asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(address), "r"(static_cast<unsigned>(v)),
                   "l"(policy)
                   : "memory");
    else
      asm volatile("st.global.L2::cache_hint.u64 [%0], %1, %2;" ::"l"(address), "l"(std::uint64_t(v)), "l"(policy)
                   : "memory");
    return;
  }
#endif
  *to = v;
}

}  // namespace upsweep
