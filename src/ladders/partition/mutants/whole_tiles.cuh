// Wrong on purpose: a warp moves tiles of 32 keys, but only whole ones.
//
// Must be caught: the last keys are counted, but never written.
#pragma once
#include "kernel/block.h"
#include "ladders/partition/add_up.cuh"

namespace upsweep::ladders::partition {

template <class T, class O>
__global__ void whole_tiles_kernel(Input<T, O> in, T* keys, Values values,
                                   Counter* next) {  // [buckets]
  const unsigned lane = threadIdx.x;
  for (std::size_t tile = 0; tile < in.n / warp_size; ++tile) {
    const std::size_t i = tile * warp_size + lane;
    const unsigned b = in.bucket_of(i), peers = __match_any_sync(all_lanes, b);
    const unsigned before = static_cast<unsigned>(__popc(peers & ((1u << lane) - 1)));
    const std::size_t offset = next[b] + before;
    keys[offset] = in.keys[i];
    values.move(i, offset);
    __syncwarp();
    if (before == 0) next[b] += static_cast<unsigned>(__popc(peers));
    __syncwarp();
  }
}

struct whole_tiles {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "the last tile is moved only if it is whole",
                               .prediction = "keys that were not written"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned buckets = a.in.buckets.count;
    auto* const counts = reinterpret_cast<Counter*>(a.workspace->counters(2 * buckets));
    Scratch scratch(*a.workspace);
    auto* const next = scratch.take<Counter>(buckets);
    if (!counts || !scratch) return no_memory;
    if (Status s = count_by_blocks(a, {.block = 64, .stream = a.stream}, counts); !s) return s;
    if (Status s = launch(add_up_kernel, {.stream = a.stream}, counts, next, a.offsets, buckets); !s) return s;
    return launch(whole_tiles_kernel<T, O>, {.block = warp_size, .stream = a.stream}, a.in, a.keys, a.values, next);
  }
};

}  // namespace upsweep::ladders::partition
