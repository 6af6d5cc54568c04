// Counting in shared memory, which holds the counters of any number of buckets.
#pragma once
#include "kernel/multisplit/reorder.h"
#include "kernel/occupancy.h"
#include "ladders/partition/scatter.cuh"

namespace upsweep::ladders::partition {

static_assert(max_buckets * sizeof(unsigned) <= 128 * 1024, "a block has 227 KB");

// Counts in steps of the whole grid; every block merges its counts by an atomic addition for each that is not 0.
template <class T, class B>
__global__ void shared_counts_kernel(multisplit::BucketedKeys<T, B> in,
                                     Counter* counts) {  // [buckets], zero
  unsigned* const own = dynamic_shared<unsigned>();      // [buckets]
  count_in_shared(in, own, std::size_t(blockIdx.x) * blockDim.x + threadIdx.x, in.n,
                  std::size_t(gridDim.x) * blockDim.x);
  for (unsigned b = threadIdx.x; b < in.buckets.count; b += blockDim.x)
    if (own[b]) atomicAdd(&counts[b], Counter(own[b]));
}

// Launches it with the shape's grid and block.
template <class T, class B>
Status count_by_blocks(const multisplit::Task<T, B>& a, Shape shape, Counter* counts) {
  shape.shared_bytes = a.in.buckets.count * sizeof(unsigned);
  return launch(shared_counts_kernel<T, B>, shape, a.in, counts);
}

// A grid that stays resident while it counts, with `per_thread` keys or more for each thread.
template <class T, class B>
Shape resident_shape(const multisplit::Task<T, B>& a, unsigned block, unsigned per_thread) {
  const std::size_t max_blocks =
      std::size_t(machine().multiprocessors) * resident(a.in.buckets.count * sizeof(unsigned), block);
  const std::size_t wanted = ceil_div(a.in.n, std::size_t(block) * per_thread);
  return {.grid = a.tuning.grid_or(wanted < 1            ? 1
                                   : wanted < max_blocks ? wanted
                                                         : max_blocks),
          .block = block,
          .stream = a.stream};
}

}  // namespace upsweep::ladders::partition
