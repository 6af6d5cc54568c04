// Counting in shared memory.
#pragma once
#include "kernel/warp.h"
#include "ladders/histogram/limits.h"

namespace upsweep::ladders::histogram {

// Returns the maximum dynamic shared memory of a block, in bytes: all of a block's, because these kernels have no
// static shared memory.
inline std::size_t most_shared() { return machine().shared_per_block; }
inline constexpr Status too_many_counters{Code::unsupported, 0, "the counters do not fit in shared memory"};
inline constexpr Status no_memory{Code::out_of_memory, 0, "no memory for the total counts"};

// Block-wide: counts the samples that a grid-stride loop of `blocks` blocks assigns to block `block`. Counter k is
// counts[slot(k)]; k = in.counters() is for samples in no bin. Clears the counters first; ends with a barrier.
template <class T, class O, class Slot>
__device__ void count_in_shared(const Input<T, O>& in, unsigned* counts, unsigned block, unsigned blocks, Slot slot) {
  const unsigned counters = in.counters();
  for (unsigned k = threadIdx.x; k <= counters; k += blockDim.x) counts[slot(k)] = 0;
  __syncthreads();
  const std::size_t step = std::size_t(blocks) * blockDim.x;
  for (std::size_t i = std::size_t(block) * blockDim.x + threadIdx.x; i < in.samples.count; i += step)
    atomicAdd(&counts[slot(in.counter_of(i))], 1u);
  __syncthreads();
}

// Returns the slot of counter k, with one unused word after every 32 counters, so that counters 32 apart are in
// different banks.
__host__ __device__ constexpr unsigned padded_slot(unsigned k) { return k + k / 32; }
constexpr unsigned padded_bytes(unsigned counters) { return (padded_slot(counters) + 1) * sizeof(unsigned); }

// Block-wide: writes the caller's counters from the block's counts.
template <class Slot>
__device__ void put_counts(const Output& out, const unsigned* counts, unsigned counters, Slot slot) {
  for (unsigned k = threadIdx.x; k < counters; k += blockDim.x) out.put(k, counts[slot(k)]);
  if (threadIdx.x == 0) out.put_outside(counts[slot(counters)]);
}

}  // namespace upsweep::ladders::histogram
