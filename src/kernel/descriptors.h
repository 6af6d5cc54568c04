// Tile descriptors: totals and prefixes that the tiles of a single-pass kernel publish to each other, as tagged words.
// The tag is the epoch, the number of the call.
//
// Descriptors are not cleared between calls: a stale descriptor carries the epoch of an earlier call, and reads as
// empty.
#pragma once
#include "base/workspace.h"
#include "kernel/tagged_word.h"
#include "kernel/warp.h"

namespace upsweep {

// The number of a drawn tile, and the epoch of the call.
struct Drawn {
  unsigned tile, epoch;
};

// The descriptors of a kernel's tiles, in Workspace::kept(): zero when first handed out, afterwards whatever the last
// call left.
struct Descriptors {
  unsigned long long* words;  // [reserved + descriptors]; null if allocation failed
  std::size_t count;          // words

  // The first word has the last call's epoch in its upper half and a counter of drawn tiles in the lower; the second
  // word counts blocks that are done. Both counters are zero between calls. The reserved words fill a 128-byte line of
  // L2, because other blocks poll the first descriptors while blocks draw (scan/pipeline at 2^20 on an H200: 5.56 us,
  // and 5.90 us if draws and polls share the line).
  static constexpr std::size_t reserved = 16;
  __host__ __device__ unsigned* done_counter() const { return reinterpret_cast<unsigned*>(words + 1); }
  __host__ __device__ unsigned long long* array() const { return words + reserved; }

  // Draws the next tile; by one thread. A single atomic returns both the tile's number and the epoch, so the call
  // cannot end in between.
  __device__ Drawn draw() const {
    const unsigned long long first = atomicAdd(words, 1ull);
    return {static_cast<unsigned>(first), epoch_of(first)};
  }
  // Returns the first word, for blocks that draw no tiles. A block reads the word before it publishes or polls
  // anything, and by one warp only: if every warp of a grid loads the same word, the loads queue at L2 for a
  // microsecond.
  __device__ unsigned long long first_word() const { return load_relaxed(words); }
  // Returns this call's epoch, given the first word.
  static __device__ unsigned epoch_of(unsigned long long first) { return static_cast<unsigned>(first >> 32) + 1; }
  // True if the call of this epoch leaves no stale words, which happens twice per cycle: the 32-bit epoch wraps, and a
  // stale word must never look current. Such a call writes its words as always, and end() zeroes the others.
  static __device__ bool rewrites(unsigned epoch) { return (epoch & 0x7fffffffu) == 0x7fffffffu; }
  // Ends the call: the next call gets the next epoch, and draws tiles from 0. By one thread, once every block has drawn
  // its last tile or read the first word. This call has written the first `used` words of array().
  __device__ void end(unsigned epoch, std::size_t used) const {
    if (rewrites(epoch))
      for (std::size_t i = reserved + used; i < count; ++i) words[i] = 0;
    words[0] = epoch == 0xffffffffu ? 0 : static_cast<unsigned long long>(epoch) << 32;  // no call has epoch 0
  }
};

// Returns descriptors for `count` values of type A; `words` is null if allocation failed.
template <class A>
Descriptors descriptors_for(Workspace& workspace, std::size_t count) {
  const auto kept = workspace.kept(Descriptors::reserved + count * words_per<A>);
  return {kept.words, kept.count};
}

// Polls the values index(0) to index(Count - 1) of `array` until all of them carry the tag, and loads them. All loads
// of a polling round are in flight together.
template <unsigned Count, class T, class Index>
__device__ __forceinline__ void wait_tagged(const unsigned long long* array, unsigned tag, Index index,
                                            T (&values)[Count]) {
  constexpr unsigned each = words_per<T>;
  unsigned long long word[Count * each];
  bool found;
  do {
#pragma unroll
    for (unsigned v = 0; v < Count; ++v)
#pragma unroll
      for (unsigned k = 0; k < each; ++k) word[v * each + k] = load_relaxed(array + std::size_t(index(v)) * each + k);
    found = true;
#pragma unroll
    for (unsigned w = 0; w < Count * each; ++w) found &= static_cast<unsigned>(word[w]) == tag;
    if (!found) spin_hint();
  } while (!found);
#pragma unroll
  for (unsigned v = 0; v < Count; ++v) {
    unsigned half[each];
#pragma unroll
    for (unsigned k = 0; k < each; ++k) half[k] = static_cast<unsigned>(word[v * each + k] >> 32);
    memcpy(&values[v], half, sizeof(T));
  }
}

// ---- the total of a range of tiles ----------------------------------------------------------------------------------

// The tiles of [from, to), at most Each * 32, whose descriptors this lane polls: every 32nd tile, because coalesced
// polls touch a quarter of the sectors, or `Each` neighbours if order matters. Lanes past the end poll the last tile
// again, so that no load depends on a branch and all loads are in flight together; with branches, eight loads took half
// a microsecond longer.
template <unsigned Each, bool neighbours = false>
struct LaneTiles {
  static constexpr unsigned of_lane = neighbours ? Each : 1, step = neighbours ? 1 : warp_size;
  unsigned first, to;
  __device__ LaneTiles(unsigned from, unsigned to) : first(from + threadIdx.x % warp_size * of_lane), to(to) {}
  __device__ bool has(unsigned k) const { return first + k * step < to; }
  __device__ unsigned operator()(unsigned k) const { return has(k) ? first + k * step : to - 1; }
};

// 5 x 32 = 160 descriptors per warp and polling round: more than the blocks of a persistent kernel on an H200.
inline constexpr unsigned polls_per_lane = 5;

// Warp-wide: returns op over the totals of tiles [from, to), at most Each * 32, to every lane. There is one descriptor
// per tile. Waits for totals that are not published yet.
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

// As total_of_few(), for any number of tiles.
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
