// Unordered scatter to offsets from atomic counters in global memory: the steps that several rungs share.
#pragma once
#include "kernel/kernel.h"
#include "kernel/multisplit/shared_counts.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

static_assert(max_buckets * sizeof(unsigned) <= 128 * 1024, "the counters of a block, which has 227 KB");

// Moves every key to the next offset of its bucket, in a grid-stride loop.
template <class T, class O>
__global__ void scatter_kernel(Input<T, O> in, T* keys,  // [n]
                               Values values,
                               Counter* next) {  // [buckets]
  const std::size_t step = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < in.n; i += step) {
    const T key = in.keys[i];
    const std::size_t offset = atomicAdd(&next[in.buckets(key)], 1ull);
    keys[offset] = key;
    values.move(i, offset);
  }
}

// Returns the shape with one thread per key.
inline Shape thread_per_key(std::size_t n, unsigned block, Stream stream) {
  return {.grid = static_cast<unsigned>(n ? ceil_div(n, block) : 1), .block = block, .stream = stream};
}

// Calls count(counts), which adds to [buckets] zeroed counters; then add_up(counts, next), which writes the offsets,
// copies them to `next` and zeroes the counts; then launches scatter_kernel with `shape`.
template <class T, class O, class Count, class AddUp>
Status by_next_offset(const Args<T, O>& a, const Shape& shape, Count&& count, AddUp&& add_up) {
  const unsigned buckets = a.in.buckets.count;
  auto* const counts = reinterpret_cast<Counter*>(a.workspace->counters(buckets * sizeof(Counter) / sizeof(unsigned)));
  Scratch scratch(*a.workspace);
  auto* const next = scratch.take<Counter>(buckets);
  if (!counts || !scratch) return no_memory;
  if (Status s = count(counts); !s) return s;
  if (Status s = add_up(counts, next); !s) return s;
  return launch(scatter_kernel<T, O>, shape, a.in, a.keys, a.values, next);
}

}  // namespace upsweep::ladders::partition
