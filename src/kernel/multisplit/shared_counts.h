// Counts the keys of each bucket in shared memory.
#pragma once
#include "kernel/multisplit/args.h"
#include "kernel/occupancy.h"

namespace upsweep::multisplit {

using Counter = unsigned long long;  // the 64-bit type that atomicAdd takes

// Block-wide: clears counts[0..buckets), then counts each thread's keys `first`, `first` + `step`, ... before `end` in
// it. Ends with a barrier. A block counts fewer than 2^32 keys.
template <class T, class B>
__device__ void count_in_shared(const BucketedKeys<T, B>& in, unsigned* counts, std::size_t first, std::size_t end,
                                std::size_t step) {
  for (unsigned b = threadIdx.x; b < in.buckets.count; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  for (std::size_t i = first; i < end; i += step) atomicAdd(&counts[in.bucket_of(i)], 1u);
  __syncthreads();
}

// Privatised counting: each block counts in shared memory, in a grid-stride loop, and merges its nonzero counts by
// atomic additions.
template <class T, class B>
__global__ void shared_counts_kernel(BucketedKeys<T, B> in,
                                     Counter* counts) {  // [buckets], zero
  unsigned* const own = dynamic_shared<unsigned>();      // [buckets]
  count_in_shared(in, own, std::size_t(blockIdx.x) * blockDim.x + threadIdx.x, in.n,
                  std::size_t(gridDim.x) * blockDim.x);
  for (unsigned b = threadIdx.x; b < in.buckets.count; b += blockDim.x)
    if (own[b]) atomicAdd(&counts[b], Counter(own[b]));
}

// Launches shared_counts_kernel with the shape's grid and block.
template <class T, class B>
Status count_by_blocks(const Task<T, B>& a, Shape shape, Counter* counts) {
  shape.shared_bytes = a.in.buckets.count * sizeof(unsigned);
  return launch(shared_counts_kernel<T, B>, shape, a.in, counts);
}

// Returns the shape of a launch that counts: as many blocks as are resident, or fewer, to have at least `per_thread`
// keys per thread.
template <class T, class B>
Shape resident_shape(const Task<T, B>& a, unsigned block, unsigned per_thread) {
  const std::size_t max_blocks =
      std::size_t(machine().multiprocessors) * resident(a.in.buckets.count * sizeof(unsigned), block);
  const std::size_t wanted = ceil_div(a.in.n, std::size_t(block) * per_thread);
  return {.grid = a.tuning.grid_or(wanted < 1            ? 1
                                   : wanted < max_blocks ? wanted
                                                         : max_blocks),
          .block = block,
          .stream = a.stream};
}

}  // namespace upsweep::multisplit
