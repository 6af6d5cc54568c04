// Tile descriptors: totals and prefixes that the tiles of a single-pass kernel publish for each other, as tagged words
// whose tag is the epoch, the number of the call.
//
// Descriptors are not cleared between calls. One that an earlier call wrote carries that call's epoch and reads as
// empty: no kernel before this one, and none after it, has to clean up.
#pragma once
#include "base/workspace.h"
#include "kernel/block.h"
#include "kernel/tagged_word.h"

namespace upsweep {

// Lies in Workspace::kept(): zero when first handed out, and then whatever the last call left.
struct Descriptors {
  unsigned long long* words;  // [reserved + descriptors]; null if memory ran out
  std::size_t count;          // of words

  static constexpr std::size_t reserved = 2;  // the last call's epoch; two 32-bit counters, zero between calls
  __host__ __device__ unsigned* tile_counter() const { return reinterpret_cast<unsigned*>(words + 1); }
  __host__ __device__ unsigned* done_counter() const { return tile_counter() + 1; }
  __host__ __device__ unsigned long long* array() const { return words + reserved; }

  // The epoch of the last call; this one's is the next. Every block asks before it publishes, or polls, anything. By
  // one warp of a block: the same word for all warps of a grid is a queue of a microsecond at L2.
  __device__ unsigned long long last_epoch() const { return load_relaxed(words); }
  static __device__ unsigned epoch_after(unsigned long long last) { return static_cast<unsigned>(last) + 1; }
  // The 32-bit epoch wraps; a stale word must never look current, so twice a cycle a call sees to it that every word
  // carries its epoch, or none: it writes all of its own, and zeroes the others.
  static __device__ bool rewrites(unsigned epoch) { return (epoch & 0x7fffffffu) == 0x7fffffffu; }
  // By one thread, once every block has asked for the epoch: the next call gets another. `used` words of the array are
  // this call's.
  __device__ void end(unsigned epoch, std::size_t used) const {
    if (rewrites(epoch))
      for (std::size_t i = reserved + used; i < count; ++i) words[i] = 0;
    words[0] = epoch == 0xffffffffu ? 0 : epoch;  // 0 is no call's epoch
  }
};

// Descriptors for `count` values of type A.
template <class A>
Descriptors descriptors_for(Workspace& workspace, std::size_t count) {
  const auto kept = workspace.kept(Descriptors::reserved + count * words_per<A>);
  return {kept.words, kept.count};
}

// ---- totals of the tiles between two --------------------------------------------------------------------------------

// The tiles of [from, to), at most Each * 32, whose descriptors this lane polls. In rows, because polls in rows touch a
// quarter of the sectors; or `Each` neighbours, where order matters. Lanes past the end poll the last tile again, so
// that no load depends on a branch and all are in flight together: with branches, eight of them took half a microsecond
// longer.
template <unsigned Each, bool neighbours = false>
struct LaneTiles {
  static constexpr unsigned of_lane = neighbours ? Each : 1, step = neighbours ? 1 : warp_size;
  unsigned first, to;
  __device__ LaneTiles(unsigned from, unsigned to) : first(from + threadIdx.x % warp_size * of_lane), to(to) {}
  __device__ bool has(unsigned k) const { return first + k * step < to; }
  __device__ unsigned operator()(unsigned k) const { return has(k) ? first + k * step : to - 1; }
};

// So many for each lane make 160 in all: more than there are blocks in a persistent kernel on an H200.
inline constexpr unsigned polls_per_lane = 5;

// op over the totals of tiles [from, to), at most Each * 32, one descriptor a tile; for a whole warp, and every lane
// gets it. Waits for those that are not published yet.
template <unsigned Each, class A, class Op>
__device__ __forceinline__ A total_of_few(const Descriptors& descriptors, unsigned epoch, unsigned from, unsigned to,
                                          Op op) {
  const LaneTiles<Each, !commutes<Op>> tiles(from, to);
  A totals[Each], sum = Op::template neutral<A>();
  wait_tagged<Each>(descriptors.array(), epoch, tiles, totals);
  __syncwarp();
#pragma unroll
  for (unsigned k = 0; k < Each; ++k) sum = tiles.has(k) ? op(sum, totals[k]) : sum;
  return shuffle(warp_reduce(sum, op), 0);
}

// The same for any number of tiles.
template <class A, class Op>
__device__ A total_between(const Descriptors& descriptors, unsigned epoch, unsigned from, unsigned to, Op op) {
  constexpr unsigned many = polls_per_lane;
  A sum = Op::template neutral<A>();
  for (; to - from > 2 * warp_size; from += many * warp_size) {
    if (to - from <= many * warp_size) return op(sum, total_of_few<many, A>(descriptors, epoch, from, to, op));
    sum = op(sum, total_of_few<many, A>(descriptors, epoch, from, from + many * warp_size, op));
  }
  return from < to ? op(sum, total_of_few<2, A>(descriptors, epoch, from, to, op)) : sum;
}

}  // namespace upsweep
