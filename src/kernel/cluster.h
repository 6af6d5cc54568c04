// Thread-block clusters (Shape::cluster): blocks that run at the same time and can access each other's shared memory.
#pragma once
#include "kernel/kernel.h"

#if !defined(__CUDACC__)
#include "simt/async.h"
#endif

namespace upsweep {

// In code for architectures before 9.0 every cluster is a single block, because launch() refuses larger ones, and
// accesses to a cluster's memory trap.

// Returns this block's rank in its cluster.
__device__ __forceinline__ unsigned cluster_rank() {
#if defined(__CUDACC__)
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
#else
  return simt::cluster_rank();
#endif
}
// Cluster-wide barrier: afterwards, every thread of the cluster sees the earlier writes of all others.
__device__ __forceinline__ void cluster_sync() {
#if !defined(__CUDACC__)
  simt::cluster_sync();
#elif __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
}
// Returns the word in block `rank`'s shared memory at the offset of *shared.
__device__ __forceinline__ std::uint64_t read_in_cluster(const std::uint64_t* shared, unsigned rank) {
  std::uint64_t word = 0;
#if !defined(__CUDACC__)
  word = *simt::map_shared(const_cast<std::uint64_t*>(shared), rank);
#elif __CUDA_ARCH__ >= 900
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))), "r"(rank));
  asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(word) : "r"(there) : "memory");
#else
  __trap();
#endif
  return word;
}
// Stores to block `rank`'s shared memory at the offset of *shared.
template <class T>
__device__ __forceinline__ void store_in_cluster(T* shared, unsigned rank, T value) {
#if !defined(__CUDACC__)
  *simt::map_shared(shared, rank) = value;
#elif __CUDA_ARCH__ >= 900
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))), "r"(rank));
  if constexpr (sizeof(T) == 4)
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(value) : "memory");
  else if constexpr (sizeof(T) == 8)
    asm volatile("st.shared::cluster.u64 [%0], %1;" ::"r"(there), "l"(value) : "memory");
  else
    asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(there), "r"(value.x), "r"(value.y),
                 "r"(value.z), "r"(value.w)
                 : "memory");
#else
  __trap();
#endif
}
// Atomically adds 1 to the word in block `rank`'s shared memory at the offset of *shared.
__device__ __forceinline__ void increment_in_cluster(unsigned* shared, unsigned rank) {
#if !defined(__CUDACC__)
  atomicAdd(simt::map_shared(shared, rank), 1u);
#elif __CUDA_ARCH__ >= 900
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))), "r"(rank));
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(there) : "memory");
#else
  __trap();
#endif
}

}  // namespace upsweep
