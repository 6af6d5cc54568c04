// Addresses as integers.
#pragma once
#include "kernel/async.h"

namespace upsweep {

// A shared-memory address for bit arithmetic: 32 bits on a GPU.
#if defined(__CUDACC__)
using SharedAddress = unsigned;  // from shared_address()
template <class T>
__device__ __forceinline__ T& at_shared(SharedAddress address) {
  return *static_cast<T*>(__cvta_shared_to_generic(address));
}
#else
using SharedAddress = std::uintptr_t;
inline SharedAddress shared_address(const void* shared) { return reinterpret_cast<SharedAddress>(shared); }
template <class T>
T& at_shared(SharedAddress address) {
  return *reinterpret_cast<T*>(address);
}
#endif

// Returns a global-memory address that the compiler keeps in registers as computed, instead of splitting it and adding
// the parts at every access.
template <class T>
__device__ __forceinline__ T* as_computed(T* global) {
#if defined(__CUDA_ARCH__)
  std::size_t address = __cvta_generic_to_global(global);
  asm("" : "+l"(address));
  return static_cast<T*>(__cvta_global_to_generic(address));
#else
  return global;
#endif
}

}  // namespace upsweep
