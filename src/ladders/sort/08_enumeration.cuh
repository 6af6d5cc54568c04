// sort/enumeration: up to 2^13 keys, each compared with all others.
//
// A key's offset is the number of keys that precede it. To count them takes n comparisons per key, but no key waits for
// another: no digits, no barriers between passes, no exchange between blocks. So few keys keep a whole GPU busy, where
// one block or a cluster sorts them in ten dependent steps. A block has up to 64 keys; its warps each have a part of
// the keys to compare with, 128 of 2^12, which lanes read from shared memory four at a time, all lanes the same.
//
// A comparison is two instructions, for different pipelines: an integer one sets a predicate, and a float is
// incremented under it. A multiprocessor makes 64 per clock: 2^12 keys are 2^24 comparisons, 1 us on 132 of them.
//
// Traffic   keys read once by every block, from L2, and written once, in random order; values read and written once.
// Order     stable: of equal keys, those before a key in the input precede it.
// Source    Knuth, The Art of Computer Programming 3, 1973, 5.2 (comparison counting); Muller, Preparata, Bounds to
//           Complexities of Networks for Sorting and for Switching, 1975 (enumeration sort, in parallel).
#pragma once
#include "kernel/block.h"
#include "kernel/ptx.h"
#include "kernel/vector.h"
#include "ladders/sort/choose.h"
#include "ladders/sort/moves.cuh"

namespace upsweep::ladders::sort {

// The block's warps, each with a part of the keys that the block's own are compared with.
inline constexpr unsigned enumeration_warps = 32, enumeration_block = enumeration_warps * warp_size;

// A block has `own` keys. Where these are fewer than a warp's lanes, lanes that have the same key share the warp's
// part.
template <unsigned own>
struct EnumerationShape {
  static constexpr unsigned lanes = own < warp_size ? own : warp_size;  // with keys of their own
  static constexpr unsigned shares = warp_size / lanes;                 // of a warp's part
  static constexpr unsigned each = own / lanes;                         // keys of a lane
  // Rows begin a bank apart, because a warp's lanes read a column.
  using Sums = unsigned[enumeration_warps][own + 1];
  // Keys of a share, for n in all: packs of 16 bytes.
  template <class Key>
  UPSWEEP_HD static unsigned share_of(unsigned n) {
    constexpr unsigned pack = 16 / sizeof(Key);
    return static_cast<unsigned>(ceil_div(n, enumeration_warps * shares * pack)) * pack;
  }
};

template <unsigned own, class Order, class K = typename Order::Key>
__global__ void __launch_bounds__(enumeration_block)
    enumeration_kernel(const K* keys, K* out, Values values, unsigned n, Order order,
                       Ordered<K> compared) {  // the bits that are compared
  using Key = Ordered<K>;
  using Shape = EnumerationShape<own>;
  constexpr unsigned each = Shape::each, pack = 16 / sizeof(Key);
  const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size, first = blockIdx.x * own;
  const unsigned share = Shape::template share_of<Key>(n), part = share * Shape::shares;
  Key* const others = dynamic_shared<Key>() + warp * part;  // [part], of this warp
  __shared__ typename Shape::Sums sums;
  const auto read = [&](unsigned i) { return i < n ? Key(order(keys[i]) & compared) : Key(~Key(0)); };
  allow_next_launch();
  wait_for_previous();
  // 1. The lane's keys, the warp's part of all keys, and the keys that the warp will write. Keys past the end precede
  // none: they are the greatest, and come after the others.
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
  // 2. How many keys of the lane's share precede each of its own: of equal ones, those before the block's keys do,
  // those after them do not, and among the block's own the earlier ones do.
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
  // 3. The sum of all shares is the key's offset.
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

struct enumeration {
  static constexpr Needs needs = enumeration_needs(0, 4);  // more keys need more
  static constexpr Story story{
      .idea = "up to 2^13 keys: each is compared with all others, by the whole GPU, and needs no other's offset",
      .prediction = "3 us for 2^10 keys and 4.5 for 2^12: 2.2 times CUB or more; 7.5 for 2^13, 5 times",
      .guarantees = "stable",
      .limits = "up to 2^13 keys, which shared memory has room for; block size fixed",
      .source = "Knuth, 1973; Muller, Preparata, 1975"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest_emulated = 1 << 11;
  static constexpr std::size_t largest = enumeration_most;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.n > largest) return {Code::unsupported, 0, "this rung takes up to 2^13 keys"};
    if (!machine().meets(enumeration_needs(a.n, sizeof(T))))
      return {Code::unsupported, 0, "too many keys for the shared memory of a block"};
    if (a.n == 0) return {};
    Args<T, O> apart = a;  // a block writes while others still read
    if (Status s = copy_overwritten(apart); !s) return s;
    // 2^10 keys are too few to pay for more than 32 blocks; with 256, two of which share a multiprocessor, 2^12
    // take 4.7 us instead of the 5.5 of 128; with 128, every one of which reads all keys, 2^13 take 8.0 instead of 9.3
    // or 12.8.
    if (a.n <= 1 << 10) return start<32>(apart);
    if (a.n <= 1 << 12) return start<16>(apart);
    return start<64>(apart);
  }

 private:
  template <unsigned own, class T, class O>
  static Status start(const Args<T, O>& a) {
    using Key = typename Args<T, O>::Key;
    using Shape = EnumerationShape<own>;
    const auto n = static_cast<unsigned>(a.n);
    const unsigned share = Shape::template share_of<Ordered<Key>>(n);
    return launch(enumeration_kernel<own, OrderOf<T>>,
                  {.grid = static_cast<unsigned>(ceil_div(n, own)),
                   .block = enumeration_block,
                   .shared_bytes = enumeration_warps * Shape::shares * share * sizeof(Ordered<Key>),
                   .overlap = true,
                   .stream = a.stream},
                  a.keys, a.out, a.values, n, a.order, static_cast<Ordered<Key>>(a.compared()));
  }
};

}  // namespace upsweep::ladders::sort
