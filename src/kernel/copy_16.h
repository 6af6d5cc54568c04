// Copies of 16 bytes to shared memory by each thread, for data that is scattered. The thread continues meanwhile.
#pragma once
#include "kernel/async.h"

namespace upsweep {

#if defined(__CUDACC__)
// Starts this thread's copy of 16 bytes to shared memory, without room in L1. Both addresses are multiples of 16.
__device__ __forceinline__ void copy_16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared)), "l"(global) : "memory");
}
// Ends a group of this thread's copies, perhaps an empty one.
__device__ __forceinline__ void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for this thread's copies, but for those of the last `groups` groups.
template <unsigned groups>
__device__ __forceinline__ void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}
#else
// The emulator copies at once, and so misses a wait left out.
__device__ __forceinline__ void copy_16(void* shared, const void* global) {
  *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
}
__device__ __forceinline__ void copies_commit() {}
template <unsigned>
__device__ __forceinline__ void copies_wait() {}
#endif

}  // namespace upsweep
