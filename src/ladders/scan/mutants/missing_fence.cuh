// Wrong on purpose: a tile publishes its prefix and, in a second word, a flag, without a fence between them.
//
// A GPU may make the flag visible before the prefix. The emulator never does, because it runs accesses one by one.
//
// Must be caught: a race in global memory, even if the value is right.
#pragma once
#include "kernel/block.h"
#include "kernel/descriptors.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {

enum class TwoWords { without_a_fence, value_first };  // the mistake

inline constexpr unsigned two_words_block = 128;  // threads per block, elements per tile

template <TwoWords mistake, class T, class Op>
__global__ void two_words_kernel(const T* in,  // [n]
                                 T* out,       // [n]
                                 T* prefixes,  // [gridDim.x], each tile's inclusive prefix
                                 Descriptors descriptors, std::size_t n, bool inclusive, Op op) {
  __shared__ T warp_totals[warp_size], before_tile;
  __shared__ Drawn drawn;
  if (threadIdx.x == 0) drawn = descriptors.draw();
  __syncthreads();
  const auto [tile, epoch] = drawn;
  const std::size_t i = std::size_t(tile) * blockDim.x + threadIdx.x;
  const T own = i < n ? in[i] : Op::template neutral<T>();
  T total;
  const T before = block_scan(own, op, warp_totals, total);
  if (threadIdx.x == 0) {
    unsigned flag = 0;  // in a separate word: whether the prefix is published
    T prefix = Op::template neutral<T>();
    if (tile > 0) {
      if (mistake == TwoWords::value_first) prefix = prefixes[tile - 1];
      while (!try_load_tagged(descriptors.array() + tile - 1, epoch, flag)) spin_hint();
      __threadfence();
      if (mistake != TwoWords::value_first) prefix = prefixes[tile - 1];
    }
    prefixes[tile] = op(prefix, total);
    if (mistake != TwoWords::without_a_fence) __threadfence();
    store_tagged(descriptors.array() + tile, epoch, 1u);
    before_tile = prefix;
    if (tile + 1 == gridDim.x) descriptors.end(epoch, gridDim.x);
  }
  __syncthreads();
  const T left = op(before_tile, before);
  if (i < n) out[i] = inclusive ? op(left, own) : i > 0 ? left : value_of_none<Op, T>();
}

template <TwoWords mistake, class T, class Op>
Status scan_with_two_words(const Args<T, Op>& a) {
  if (a.n == 0) return {};
  const std::size_t tiles = ceil_div(a.n, two_words_block);
  Scratch scratch(*a.workspace);
  T* const prefixes = scratch.take<T>(tiles);
  const Descriptors descriptors = descriptors_for<unsigned>(*a.workspace, tiles);
  if (!scratch || !descriptors.words) return no_memory_for_totals;
  return launch(two_words_kernel<mistake, T, Op>,
                {.grid = unsigned(tiles), .block = two_words_block, .stream = a.stream}, a.in, a.out, prefixes,
                descriptors, a.n, a.inclusive, a.op);
}

struct missing_fence {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "a prefix and its flag in two words, without a fence between them",
                               .prediction = "a race in global memory, even if the value is right"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return scan_with_two_words<TwoWords::without_a_fence>(a);
  }
};

}  // namespace upsweep::ladders::scan
