// Scatter offsets by atomic counters in global memory, in no order: the steps that the rungs share.
#pragma once
#include "kernel/kernel.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

using Counter = unsigned long long;  // of 64 bits, as atomicAdd knows them

// Every key takes the next offset of its bucket, in steps of the whole grid.
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

// A grid with a thread for every key.
inline Shape thread_per_key(std::size_t n, unsigned block, Stream stream) {
  return {.grid = static_cast<unsigned>(n ? ceil_div(n, block) : 1), .block = block, .stream = stream};
}

// Calls count(counts), which adds to [buckets] counters, all zero, then add_up(counts, next), which writes the offsets,
// sets next to them, and zeroes the counts; then every key takes its offset, by a kernel of this shape.
template <class T, class O, class Count, class AddUp>
Status by_next_offset(const Args<T, O>& a, const Shape& shape, Count&& count, AddUp&& add_up) {
  const unsigned buckets = a.in.buckets.count;
  auto* const counts = reinterpret_cast<Counter*>(a.workspace->counters(buckets * sizeof(Counter) / sizeof(unsigned)));
  auto* const next = static_cast<Counter*>(a.workspace->scratch(buckets * sizeof(Counter)));
  if (!counts || !next) return no_memory;
  if (Status s = count(counts); !s) return s;
  if (Status s = add_up(counts, next); !s) return s;
  return launch(scatter_kernel<T, O>, shape, a.in, a.keys, a.values, next);
}

}  // namespace upsweep::ladders::partition
