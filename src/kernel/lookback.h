// Decoupled look-back: tiles are drawn in order, and each computes its prefix.
//
// A tile publishes its total, looks back over the preceding tiles, 32 at a time, until it finds one that has published
// its prefix, and then publishes its own prefix. Tiles are drawn from a counter, so any tile that a block waits for has
// been drawn by a running block.
//
// Source    Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
#pragma once
#include "kernel/descriptors.h"

namespace upsweep {

// The two descriptors of a tile: its total and its inclusive prefix.
template <class A>
__device__ __forceinline__ unsigned long long* total_words(const Descriptors& descriptors, std::size_t tile) {
  return descriptors.array() + 2 * tile * words_per<A>;
}
template <class A>
__device__ __forceinline__ unsigned long long* prefix_words(const Descriptors& descriptors, std::size_t tile) {
  return total_words<A>(descriptors, tile) + words_per<A>;
}

// Warp-wide look-back: returns the tile's exclusive prefix to every lane.
template <class A, class Op>
__device__ A look_back(const Descriptors& descriptors, unsigned epoch, unsigned tile, Op op) {
  const unsigned lane = threadIdx.x % warp_size;
  A before = Op::template neutral<A>();
  for (long long end = tile;; end -= warp_size) {
    const long long looked_at = end - warp_size + lane;
    const unsigned long long* const total = total_words<A>(descriptors, looked_at);
    A value = Op::template neutral<A>();
    bool is_prefix = looked_at < 0;  // nothing comes before the first tile
    while (!is_prefix) {
      is_prefix = try_load_tagged(total + words_per<A>, epoch, value);
      if (is_prefix || try_load_tagged(total, epoch, value)) break;
      spin_hint();
    }
    __syncwarp();
    // The rightmost prefix includes everything to its left, so those lanes' values are dropped.
    const unsigned prefixes = __ballot_sync(all_lanes, is_prefix);
    if (prefixes >> lane > 1) value = Op::template neutral<A>();
    before = op(shuffle(warp_reduce(value, op), 0), before);
    if (prefixes) return before;
  }
}

// The tile queue of a launch with one block per tile: blocks draw tiles in ascending order.
struct LookbackTiles {
  Descriptors descriptors;

  // Block-wide: draws this block's tile and returns its number to every thread. `drawn` is in shared memory.
  __device__ unsigned draw(Drawn& drawn) const {
    if (threadIdx.x == 0) drawn = descriptors.draw();
    __syncthreads();
    return drawn.tile;
  }
  // By the block's first warp: publishes the tile's total and returns the tile's exclusive prefix to every lane. The
  // last tile ends the call, because by then every tile has been drawn and has published its total.
  template <class A, class Op>
  __device__ A before(Drawn drawn, A total, Op op) const {
    const auto [tile, epoch] = drawn;
    const unsigned lane = threadIdx.x % warp_size;
    unsigned long long* const words = total_words<A>(descriptors, tile);
    if (lane == 0) store_tagged(words, epoch, total);
    const A prefix = look_back<A>(descriptors, epoch, tile, op);
    if (lane == 0) {
      store_tagged(words + words_per<A>, epoch, op(prefix, total));
      if (tile + 1 == gridDim.x) descriptors.end(epoch, 2 * std::size_t(gridDim.x) * words_per<A>);
    }
    return prefix;
  }
  // Ends the call instead of before(), for look-backs that may stop early: they do not imply that all tiles further
  // left have published. One thread per block calls leave(), and the last of these threads ends the call.
  template <class A>
  __device__ void leave(unsigned epoch) const {
    if (take_ticket(descriptors.done_counter()) != gridDim.x - 1) return;
    *descriptors.done_counter() = 0;
    descriptors.end(epoch, 2 * std::size_t(gridDim.x) * words_per<A>);
  }
};

}  // namespace upsweep
