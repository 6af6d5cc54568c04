// sort/enumeration: up to 2^13 keys, each compared with all others.
//
// A key's offset is the number of keys that precede it. Counting them takes n comparisons per key, but no key waits for
// another, so a few thousand keys keep a whole GPU busy; a cluster sorts them in ten dependent steps. Each warp
// compares the block's 16 to 64 keys with a part of all keys, which its lanes read together in 16-byte broadcasts.
//
// A comparison is two instructions on different pipelines: an integer compare sets a predicate, under which a float is
// incremented. A multiprocessor performs 64 comparisons per clock: 2^12 keys take 2^24 comparisons, 1 us on 132
// multiprocessors.
//
// Traffic   keys read once by every block, from L2, and written once, in random order; values read and written once.
// Order     stable: among equal keys, the one that comes first in the input precedes.
// Source    Knuth, The Art of Computer Programming 3, 1973, 5.2 (comparison counting); Muller, Preparata, Bounds to
//           Complexities of Networks for Sorting and for Switching, 1975 (enumeration sort, in parallel).
#pragma once
#include "kernel/ptx.h"
#include "kernel/vector.h"
#include "kernel/warp.h"
#include "ladders/sort/choose.h"
#include "ladders/sort/moves.cuh"

namespace upsweep::ladders::sort {

inline constexpr unsigned enumeration_warps = 32, enumeration_block = enumeration_warps * warp_size;

// The shape of a block with `own` keys. If a warp has more lanes than that, lanes with the same key share the warp's
// part of all keys.
template <unsigned own>
struct EnumerationShape {
  static constexpr unsigned lanes = own < warp_size ? own : warp_size;  // lanes with distinct keys
  static constexpr unsigned shares = warp_size / lanes;                 // shares of a warp's part
  static constexpr unsigned each = own / lanes;                         // keys per lane
  using Sums = unsigned[enumeration_warps][own + 1];  // rows start one bank apart, because a warp reads a column
  // Returns the keys per share of n keys, in whole packs of 16 bytes.
  template <class Key>
  UPSWEEP_HD static unsigned share_of(unsigned n) {
    constexpr unsigned pack = 16 / sizeof(Key);
    return static_cast<unsigned>(ceil_div(n, enumeration_warps * shares * pack)) * pack;
  }
};

template <unsigned own, class Order, class K = typename Order::Key>
__global__ void __launch_bounds__(enumeration_block)
    enumeration_kernel(const K* keys, K* out, Values values, unsigned n, Order order, Ordered<K> compared) {
  using Key = Ordered<K>;
  using Shape = EnumerationShape<own>;
  constexpr unsigned each = Shape::each, pack = 16 / sizeof(Key);
  const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size, first = blockIdx.x * own;
  const unsigned share = Shape::template share_of<Key>(n), part = share * Shape::shares;
  Key* const others = dynamic_shared<Key>() + warp * part;  // [part], per warp
  __shared__ typename Shape::Sums sums;
  const auto read = [&](unsigned i) { return i < n ? Key(order(keys[i]) & compared) : Key(~Key(0)); };
  allow_next_launch();
  wait_for_previous();
  // 1. Load the lane's keys, the warp's part of all keys, and the keys that the warp will write. Padding past the end
  // precedes no key: its value is the maximum and its index comes after all others.
  Key mine[each];
#pragma unroll
  for (unsigned k = 0; k < each; ++k) mine[k] = read(first + k * warp_size + lane % Shape::lanes);
#pragma unroll 8
  for (unsigned i = lane; i < part; i += warp_size) others[i] = read(warp * part + i);
  multisplit::Pair<K> written[each];
#pragma unroll
  for (unsigned k = 0; k < each; ++k)
    if (const unsigned i = first + k * warp_size + warp; lane == 0 && warp < own && i < n)
      written[k].load(keys, values, i);
  __syncwarp();
  // 2. Count the keys of the lane's share that precede each of the lane's keys. An equal key precedes if it comes
  // before the block's keys, but not if it comes after them; within the block, the index decides.
  float count[each] = {};
  const unsigned begin = warp * part + lane / Shape::lanes * share, end = begin + share;
  const auto count_in = [&](unsigned from, unsigned to, auto&& precedes) {
#pragma unroll 8
    for (unsigned i = from; i < to; i += pack) {
      const auto some = as_pack<Key>(*reinterpret_cast<const uint4*>(others + (i - warp * part)));
#pragma unroll
      for (unsigned j = 0; j < pack; ++j)
#pragma unroll
        for (unsigned k = 0; k < each; ++k)
          if (precedes(some.item[j], i + j, k)) count[k] += 1.0f;
    }
  };
  const auto clamp = [&](unsigned i) { return i < begin ? begin : i > end ? end : i; };
  const unsigned own_begin = clamp(first), own_end = clamp(first + own);
  count_in(begin, own_begin, [&](Key other, unsigned, unsigned k) { return other <= mine[k]; });
  count_in(own_begin, own_end, [&](Key other, unsigned i, unsigned k) {
    const unsigned own_index = first + k * warp_size + lane % Shape::lanes;
    return other < mine[k] || (other == mine[k] && i < own_index);
  });
  count_in(own_end, end, [&](Key other, unsigned, unsigned k) { return other < mine[k]; });
  // 3. Add up all shares: the sum is the key's offset.
#pragma unroll
  for (unsigned k = 0; k < each; ++k) {
    unsigned sum = static_cast<unsigned>(count[k]);
#pragma unroll
    for (unsigned distance = Shape::lanes; distance < warp_size; distance *= 2)
      sum += __shfl_xor_sync(all_lanes, sum, static_cast<int>(distance));
    if (lane < Shape::lanes) sums[warp][k * warp_size + lane] = sum;
  }
  __syncthreads();
  if (warp >= own) return;
#pragma unroll
  for (unsigned k = 0; k < each; ++k) {
    const unsigned offset = warp_reduce(sums[lane][k * warp_size + warp], Sum{}), i = first + k * warp_size + warp;
    if (lane > 0 || i >= n) continue;
    if (out) out[offset] = written[k].key;
    written[k].payload.store(values, offset);
  }
}

// Maximum keys for blocks of 32 keys and, above that, for blocks of 16; with more keys, blocks have 64. On an H200,
// 2^12 keys take 4.7 us in blocks of 16 and 5.5 in blocks of 32; 2^13 take 8.0 us in blocks of 64, and 9.3 and 12.8 in
// blocks of 32 and 16, because every block reads all keys.
inline constinit Threshold most_by_32{"most_by_32", 1 << 10, 1 << 9};
inline constinit Threshold most_by_16{"most_by_16", 1 << 12, 1 << 10};

struct enumeration {
  static constexpr Needs needs = enumeration_needs(0, 4);  // grows with n
  static constexpr Threshold* thresholds[] = {&most_by_32, &most_by_16};
  static constexpr Story story{
      .idea = "up to 2^13 keys: the whole GPU compares each with all others; no key waits for another",
      .prediction = "3 us for 2^10 keys and 4.5 us for 2^12: 2.2 times CUB or more; 7.5 us for 2^13: 5 times",
      .guarantees = "stable",
      .limits = "up to 2^13 keys, all of which must fit in shared memory; block size fixed",
      .source = "Knuth, 1973; Muller, Preparata, 1975"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest = enumeration_most, largest_emulated = 1 << 11;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.n > largest) return {Code::unsupported, 0, "this rung takes up to 2^13 keys"};
    if (!machine().meets(enumeration_needs(a.n, sizeof(T))))
      return {Code::unsupported, 0, "the keys do not fit in a block's shared memory"};
    if (a.n == 0) return {};
    Scratch scratch(*a.workspace);
    Args<T, O> apart = a;  // blocks write while others still read
    if (Status s = copy_overwritten(apart, scratch); !s) return s;
    return a.n <= most_by_32 ? start<32>(apart) : a.n <= most_by_16 ? start<16>(apart) : start<64>(apart);
  }

  template <unsigned own, class T, class O>
  static Status start(const Args<T, O>& a) {
    using Key = Ordered<typename Args<T, O>::Key>;
    using Shape = EnumerationShape<own>;
    const auto n = static_cast<unsigned>(a.n), grid = static_cast<unsigned>(ceil_div(n, own));
    const std::size_t bytes = enumeration_warps * Shape::shares * Shape::template share_of<Key>(n) * sizeof(Key);
    return launch(
        enumeration_kernel<own, OrderOf<T>>,
        {.grid = grid, .block = enumeration_block, .shared_bytes = bytes, .overlap = true, .stream = a.stream}, a.keys,
        a.out, a.values, n, a.order, static_cast<Key>(a.compared()));
  }
};

}  // namespace upsweep::ladders::sort
