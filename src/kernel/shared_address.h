// Addresses in shared memory as numbers, whose bits a kernel puts together: 32 bits on a GPU.
#pragma once
#include <cstdint>

#include "kernel/kernel.h"

namespace upsweep {

#if defined(__CUDACC__)
using SharedAddress = unsigned;
__device__ __forceinline__ SharedAddress shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
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

}  // namespace upsweep
