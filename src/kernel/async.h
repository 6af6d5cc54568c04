// Bulk copies: one instruction starts a copy of kilobytes from global to shared memory. The copy engine (TMA) performs
// it while the threads continue, and an mbarrier in shared memory counts its bytes.
#pragma once
#include "kernel/kernel.h"

#if !defined(__CUDACC__)
#include "simt/async.h"
#endif

namespace upsweep {

#if defined(__CUDACC__)

// The mbarrier and copy functions below trap in code for architectures before 9.0: a kernel that went on would read
// bytes that never arrive.

__device__ __forceinline__ unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

// Initialises an mbarrier, a 64-bit word of shared memory. A phase completes when `count` threads have arrived and all
// bytes that arrivals announced have been copied; then the next phase begins. Phases have parity 0, 1, 0, ... Other
// threads and the copy engine may use the mbarrier after a __syncthreads() (or a __syncwarp(), if only this warp uses
// it).
__device__ __forceinline__ void mbarrier_init(std::uint64_t* mbarrier, unsigned count) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(mbarrier)), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
  __trap();
#endif
}

// Arrives on behalf of `count` threads.
__device__ __forceinline__ void mbarrier_arrive(std::uint64_t* mbarrier, unsigned count = 1) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(mbarrier)), "r"(count) : "memory");
#else
  __trap();
#endif
}

// Arrives and announces a copy of `bytes` bytes: the phase stays open until they have been copied.
__device__ __forceinline__ void mbarrier_arrive_expect(std::uint64_t* mbarrier, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(mbarrier)), "r"(bytes)
               : "memory");
#else
  __trap();
#endif
}

// Waits until the phase of this parity completes.
__device__ __forceinline__ void mbarrier_wait(std::uint64_t* mbarrier, unsigned parity) {
#if __CUDA_ARCH__ >= 900
  unsigned done = 0;
  while (!done)  // try_wait suspends the thread for a limited time
    asm volatile(
        "{\n\t.reg .pred over;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, over;\n\t}"
        : "=r"(done)
        : "r"(shared_address(mbarrier)), "r"(parity)
        : "memory");
#else
  __trap();
#endif
}

// Starts a copy from global to shared memory that completes on the mbarrier; mbarrier_arrive_expect() must announce its
// bytes. Addresses and size are multiples of 16 bytes. By one thread.
__device__ __forceinline__ void bulk_copy(void* shared, const void* global, unsigned bytes, std::uint64_t* mbarrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(shared)),
               "l"(global), "r"(bytes), "r"(shared_address(mbarrier))
               : "memory");
#else
  __trap();
#endif
}

// Proxy fence: orders this thread's accesses to shared memory before bulk copies that another thread starts after a
// barrier. A barrier alone does not order them, because the copy engine accesses memory by another proxy.
__device__ __forceinline__ void fence_before_bulk_copy() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  __trap();
#endif
}

#else
using simt::bulk_copy;
using simt::fence_before_bulk_copy;
using simt::mbarrier_arrive;
using simt::mbarrier_arrive_expect;
using simt::mbarrier_init;
using simt::mbarrier_wait;
#endif

}  // namespace upsweep
