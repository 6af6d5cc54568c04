// Tile descriptors: totals and prefixes that the tiles of a single-pass kernel publish to each other, as tagged words
// whose tag is the epoch, the number of the call.
//
// Descriptors are not cleared between calls: one left by an earlier call carries that call's epoch and reads as empty.
#pragma once
#include "base/workspace.h"
#include "kernel/tagged_word.h"
#include "kernel/warp.h"

namespace upsweep {

// A tile's number, and the epoch of the call that it belongs to.
struct Drawn {
  unsigned tile, epoch;
};

// In Workspace::kept(): zero when first handed out, afterwards whatever the last call left.
struct Descriptors {
  unsigned long long* words;  // [reserved + descriptors]; null if allocation failed
  std::size_t count;          // words

  // The first word has the last call's epoch in its upper half and a counter of drawn tiles in the lower; the second
  // word counts blocks that are done. Both counters are zero between calls. They have a 128-byte line of L2 to
  // themselves: while blocks draw, others poll the first descriptors (scan/pipeline at 2^20 on an H200: 5.56 us, and
  // 5.90 if they share the line).
  static constexpr std::size_t reserved = 16;
  __host__ __device__ unsigned* done_counter() const { return reinterpret_cast<unsigned*>(words + 1); }
  __host__ __device__ unsigned long long* array() const { return words + reserved; }

  // Draws the next tile, by one thread. One round trip to L2 returns both its number and the epoch, so no call ends in
  // between.
  __device__ Drawn draw() const {
    const unsigned long long first = atomicAdd(words, 1ull);
    return {static_cast<unsigned>(first), epoch_of(first)};
  }
  // Returns the first word, for blocks that draw no tiles. Each reads it before it publishes or polls anything, and
  // with one warp only: if every warp of a grid loads the same word, they queue at L2 for a microsecond.
  __device__ unsigned long long first_word() const { return load_relaxed(words); }
  // This call's epoch.
  static __device__ unsigned epoch_of(unsigned long long first) { return static_cast<unsigned>(first >> 32) + 1; }
  // The 32-bit epoch wraps; a stale word must never look current. So twice per cycle a call writes all of its words and
  // zeroes the others.
  static __device__ bool rewrites(unsigned epoch) { return (epoch & 0x7fffffffu) == 0x7fffffffu; }
  // Ends the call: the next one gets another epoch, and draws tiles from 0. By one thread, once every block has drawn
  // its last tile or read the first word. This call uses the first `used` words of the array.
  __device__ void end(unsigned epoch, std::size_t used) const {
    if (rewrites(epoch))
      for (std::size_t i = reserved + used; i < count; ++i) words[i] = 0;
    words[0] = epoch == 0xffffffffu ? 0 : static_cast<unsigned long long>(epoch) << 32;  // no call has epoch 0
  }
};

// Descriptors for `count` values of type A.
template <class A>
Descriptors descriptors_for(Workspace& workspace, std::size_t count) {
  const auto kept = workspace.kept(Descriptors::reserved + count * words_per<A>);
  return {kept.words, kept.count};
}

// Waits for the values index(0) to index(Count - 1) of an array. All loads of a polling round are in flight together.
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

// The tiles of [from, to), at most Each * 32, whose descriptors this lane polls: tiles 32 apart, because coalesced
// polls touch a quarter of the sectors, or `Each` neighbours if order matters. Lanes past the end poll the last tile
// again, so no load depends on a branch and all are in flight together; with branches, eight loads took half a
// microsecond longer.
template <unsigned Each, bool neighbours = false>
struct LaneTiles {
  static constexpr unsigned of_lane = neighbours ? Each : 1, step = neighbours ? 1 : warp_size;
  unsigned first, to;
  __device__ LaneTiles(unsigned from, unsigned to) : first(from + threadIdx.x % warp_size * of_lane), to(to) {}
  __device__ bool has(unsigned k) const { return first + k * step < to; }
  __device__ unsigned operator()(unsigned k) const { return has(k) ? first + k * step : to - 1; }
};

// 160 polls per warp: more than the blocks of a persistent kernel on an H200.
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
