// Shared-memory addresses as integers, and global addresses that stay in registers.
#pragma once
#include "kernel/async.h"

namespace upsweep {

// A shared-memory address as an integer, for bit arithmetic: 32 bits on a GPU.
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

// Returns `global`, a pointer to global memory, opaquely: the compiler keeps the whole address in a register, instead
// of adding up its parts at every access.
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
