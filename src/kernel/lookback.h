// Decoupled look-back: tiles drawn in order, and what comes before each.
//
// A tile publishes its total, looks back over the tiles before it, 32 at a time, until one has published its prefix,
// and then publishes its own. Tiles are drawn from a counter, so that a tile that a block waits for has been drawn by a
// block that runs.
//
// Source    Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
#pragma once
#include "kernel/descriptors.h"

namespace upsweep {

// The two descriptors of a tile: its total, and its prefix, the total up to its end.
template <class A>
__device__ __forceinline__ unsigned long long* total_words(const Descriptors& descriptors, std::size_t tile) {
  return descriptors.array() + 2 * tile * words_per<A>;
}
template <class A>
__device__ __forceinline__ unsigned long long* prefix_words(const Descriptors& descriptors, std::size_t tile) {
  return total_words<A>(descriptors, tile) + words_per<A>;
}

// op over everything before `tile`, for a whole warp, every lane of which gets it.
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
    // Everything before the last prefix is in it.
    const unsigned prefixes = __ballot_sync(all_lanes, is_prefix);
    if (prefixes >> lane > 1) value = Op::template neutral<A>();
    before = op(shuffle(warp_reduce(value, op), 0), before);
    if (prefixes) return before;
  }
}

// The tiles of a launch with one block a tile, in the order in which blocks draw them.
struct TileQueue {
  Descriptors descriptors;

  // The number of this block's tile, for all its threads. `drawn` is shared.
  __device__ unsigned draw(unsigned& drawn) const {
    if (threadIdx.x == 0) drawn = atomicAdd(descriptors.tile_counter(), 1u);
    __syncthreads();
    return drawn;
  }
  // By the block's first warp, which knows its tile's total; every lane gets op over all tiles before. The last tile of
  // all ends the call: every tile has been drawn and has published.
  template <class A, class Op>
  __device__ A before(unsigned tile, A total, Op op) const {
    const unsigned lane = threadIdx.x % warp_size, epoch = Descriptors::epoch_after(descriptors.last_epoch());
    unsigned long long* const words = total_words<A>(descriptors, tile);
    __syncwarp();  // all lanes have the epoch before anybody can end the call
    if (lane == 0) store_tagged(words, epoch, total);
    const A prefix = look_back<A>(descriptors, epoch, tile, op);
    if (lane == 0) {
      store_tagged(words + words_per<A>, epoch, op(prefix, total));
      if (tile + 1 == gridDim.x) {
        *descriptors.tile_counter() = 0;
        descriptors.end(epoch, 2 * std::size_t(gridDim.x) * words_per<A>);
      }
    }
    return prefix;
  }
  // Where a look-back may end early, it says nothing of the tiles further left. Then one thread of every block calls
  // this, once the block has asked for the epoch, and the last of them ends the call.
  template <class A>
  __device__ void leave(unsigned epoch) const {
    if (take_ticket(descriptors.done_counter()) != gridDim.x - 1) return;
    *descriptors.tile_counter() = *descriptors.done_counter() = 0;
    descriptors.end(epoch, 2 * std::size_t(gridDim.x) * words_per<A>);
  }
};

}  // namespace upsweep
