// Positions of a tile's keys in the order of their buckets, by counters that each lane has to itself.
//
// Lanes that count in common counters need to know who else has the same bucket: eight ballots, 27 cycles per 32 keys
// of a multiprocessor of an H200, or atomics, which take 2 to 4 cycles but 32 where all keys are the same, and do not
// keep the order. Here a lane owns consecutive keys and one byte for each of 256 buckets: to rank a key is to read its
// byte and to write it back incremented, 2.6 cycles, or to add to its word atomically, so that no key waits for the one
// before it. 32 lanes use 32 banks, whatever the keys are. What remains is to add up the bytes of all lanes, bucket by
// bucket: first of four lanes, whose counts fit a byte, then of these groups.
//
// The first positions that follow are looked up, one for each key. Two lanes have a table of them in the two banks
// where their counters were, and it needs no count of the first lane's keys beside it: the first lane has its keys in
// order and counts positions up from the pair's first one, the second has them in reverse and counts down from the next
// pair's.
//
// Source    Satish, Harris, Garland, 2009, and Merrill, Grimshaw, High Performance and Scalable Radix Sorting, 2011 (a
//           thread's own counters, for up to 32 buckets).
#pragma once
#include "kernel/address.h"
#include "kernel/async.h"
#include "kernel/bytes.h"
#include "kernel/multisplit/args.h"
#include "kernel/multisplit/concepts.h"
#include "kernel/vector.h"
#include "kernel/warp.h"

namespace upsweep::multisplit {

// ---- the address of a bucket's element ------------------------------------------------------------------------------

// True of buckets that are bits of the key.
template <class B>
inline constexpr bool is_digit = requires(B b) {
  b.first_bit;
  b.last_key();
};

// Returns the XOR mask from a key's digit bits to its bucket number.
template <class B>
__device__ unsigned flipped_bits(const B& digit) {
  if constexpr (requires { digit.flip; })
    return digit.flip;
  else
    return 0;
}

// Returns the key with its digit's first bit moved to bit `to`, and anything beside the digit.
template <unsigned to, class B, class T>
__device__ __forceinline__ unsigned move_digit(const B& digit, T key) {
  if constexpr (sizeof(T) <= 4 && to > 0)
    return __funnelshift_r(key, key, digit.first_bit - to);  // a rotation: modulo 32
  else
    return static_cast<unsigned>(key >> digit.first_bit) << to;
}

// Returns 2^shift times the key's bucket.
template <unsigned shift, class B, class T>
__device__ __forceinline__ unsigned shifted_bucket(const B& buckets, T key) {
  if constexpr (is_digit<B>)
    return (move_digit<shift>(buckets, key) & (buckets.count - 1) << shift) ^ flipped_bits(buckets) << shift;
  else
    return buckets(key) << shift;
}

// The address of a bucket's element of 2^shift bytes, where rows of 128 bytes have 2^row elements beside each other.
// `shared` is that of the first one, a multiple of 2^(shift + row).
template <unsigned shift, unsigned row, class B>
struct RowAddress {
  static constexpr unsigned in_row = (1 << row) - 1, to_rows = 7 - row - shift;
  B buckets;
  SharedAddress column, flipped;
  unsigned rows, flipped_rows, elements;  // of a digit's bits, moved to `shift`
  unsigned bits, bits_flipped;            // likewise, of elements that are bytes, moved to 3
  // `opaque_zero` is 0, which the compiler must not know: it would take masks apart, for an instruction more per key.
  __device__ RowAddress(const B& of, const void* shared, unsigned opaque_zero)
      : buckets(of), column(shared_address(shared)) {
    if constexpr (is_digit<B>) {
      const unsigned flip = flipped_bits(of), all = of.count - 1;
      rows = (all & ~in_row) << shift, flipped_rows = (flip & ~in_row) << shift;
      elements = ((all & in_row) << shift) ^ opaque_zero, flipped = column ^ (flip & in_row) << shift;
      bits = ((all & in_row) << 3) ^ opaque_zero, bits_flipped = (flip & in_row) << 3;
    }
  }
  template <class T>
  __device__ __forceinline__ SharedAddress operator()(T key) const {
    if constexpr (is_digit<B>) {
      const unsigned moved = move_digit<shift>(buckets, key);
      return (((moved & rows) ^ flipped_rows) << to_rows) + ((moved & elements) ^ flipped);
    } else {
      const unsigned bucket = buckets(key);
      return ((bucket & ~in_row) << (shift + to_rows)) + ((bucket & in_row) << shift) + column;
    }
  }
  // A byte counter, one of four in a word: the word's address, and the byte's first bit.
  template <class T>
  __device__ __forceinline__ SharedAddress word(T key) const {
    if constexpr (is_digit<B>)
      return (((move_digit<shift>(buckets, key) & rows) ^ flipped_rows) << to_rows) + column;
    else
      return ((buckets(key) & ~in_row) << (shift + to_rows)) + column;
  }
  template <class T>
  __device__ __forceinline__ unsigned first_bit(T key) const {
    if constexpr (is_digit<B>)
      return (move_digit<3>(buckets, key) & bits) ^ bits_flipped;
    else
      return (buckets(key) & in_row) * 8;
  }
};

// ---- counting -------------------------------------------------------------------------------------------------------

// Keeps the compiler from holding in registers what it has made of these values. `opaque_zero` is 0.
template <class T, unsigned count>
__device__ __forceinline__ void forget(T (&values)[count], T opaque_zero) {
#pragma unroll
  for (unsigned k = 0; k < count; ++k) values[k] ^= opaque_zero;
}
// The same of the keys' buckets: one operation if they are a digit.
template <class B, class T, unsigned count>
__device__ __forceinline__ void forget_buckets(B& buckets, T (&keys)[count], T opaque_zero) {
  if constexpr (is_digit<B>)
    buckets.first_bit ^= static_cast<unsigned>(opaque_zero);
  else
    forget(keys, opaque_zero);
}

struct NoHook {
  __device__ void operator()(unsigned) const {}
};

// Counts a lane's keys in bytes that it has to itself: byte k % 4 of ranks[k / 4] becomes the number of earlier keys in
// key k's bucket. Calls meanwhile(k) while the counter of key k is on its way.
template <Counting by, class B, class T, unsigned count, class Meanwhile = NoHook>
__device__ __forceinline__ void rank_own(const RowAddress<0, 2, B>& counter_of, const T (&keys)[count],
                                         unsigned (&ranks)[(count + 3) / 4], Meanwhile&& meanwhile = {}) {
#pragma unroll
  for (unsigned k = 0; k < count; ++k) {
    unsigned& four = ranks[k / 4];
    if constexpr (by == Counting::atomics) {
      const unsigned first_bit = counter_of.first_bit(keys[k]);
      const unsigned rank = atomicAdd(&at_shared<unsigned>(counter_of.word(keys[k])), 1u << first_bit) >> first_bit;
      meanwhile(k);
      four = k % 4 == 0 ? rank & 0xff : replace_byte(four, k % 4, rank);
    } else {
      auto& counter = at_shared<std::uint8_t>(counter_of(keys[k]));
      const unsigned rank = counter;
      meanwhile(k);
      counter = static_cast<std::uint8_t>(rank + 1);
      four = k % 4 == 0 ? rank : four | rank << k % 4 * 8;
    }
  }
}

// ---- the ranks of a tile --------------------------------------------------------------------------------------------

// Block-wide, by `Warps` warps of which each lane owns `Keys` consecutive keys. The last thread has the first keys,
// then come those of thread 0: so the pairs that share a table, (last, 0), (1, 2) and so on, are all before some
// thread's keys and never at the tile's end.
template <unsigned Warps, unsigned Keys>
struct ThreadRanks {
  static constexpr unsigned keys = Keys, block = Warps * warp_size;
  static constexpr unsigned lanes_per_group = 4, groups_per_warp = warp_size / lanes_per_group;
  static constexpr unsigned words = max_counted / 4;       // word w has the bytes of buckets 4 w to 4 w + 3
  static constexpr unsigned parts = Warps / 2;             // of the groups: 64 threads add up each
  static constexpr unsigned groups = 2 * groups_per_warp;  // of a part
  static_assert(Warps % 2 == 0 && 2 * warp_size == words, "a thread for each word and part");
  static_assert(lanes_per_group * Keys < 256, "the counts of a group fit a byte");
  static_assert(block * Keys < 1 << 16, "positions have 16 bits");

  // The position in the unsorted tile of this thread's key k, and of the first in memory of its keys.
  static __device__ unsigned element(unsigned k) { return first_element() + (backward() ? Keys - 1 - k : k); }
  static __device__ unsigned first_element() { return threadIdx.x + 1 == block ? 0 : (threadIdx.x + 1) * Keys; }
  static constexpr bool consecutive = true;
  // True if this lane has its keys from the last to the first.
  static __device__ bool backward() { return threadIdx.x % 2 == 1; }

  union Counters {
    unsigned counts[Warps][words][warp_size];
    uint2 firsts[Warps][words][warp_size / 2];  // the first positions of each pair of lanes, 16 bits each
  };
  struct Sums {
    uint4 totals[parts][2][words][2];  // of the groups of each warp, bytes like the counts
    // The first position of each group. Rows begin four banks apart, so that lanes that read eight of them use all
    // banks.
    std::uint16_t first_positions[Warps * groups_per_warp][max_counted + 8];
    uint2 of_part[parts][words];
    unsigned first_warp;
  };
  // A tile in work: the counters are where the next one will arrive, the sums where this one's keys will be sorted.
  template <unsigned packs>
  struct TileMemory {
    union {
      Counters counters;
      uint4 next[packs];
    };
    union {
      Sums sums;
      uint4 keys[packs];
    };
    __device__ uint4* staged() { return next; }
    __device__ uint4* sorted() { return keys; }
  };
  static constexpr bool ends_with_staged_free = false;

  // Stores the keys in m.sorted, by bucket; start[b] becomes the first position of bucket b. If `keep_positions`, the
  // position of this thread's key k is half k % 2 of positions[k / 2]. As soon as the tile is counted, threads 0 to 63
  // each call counted(counts of buckets 4 t to 4 t + 3). `opaque_zero` is 0, which the compiler must not know: it would
  // keep the addresses of all counters in registers. Begins with a barrier; after the next one the keys are sorted, and
  // m.staged is free.
  template <bool keep_positions, Counting by, class Memory, class T, class BucketOf, class Counted>
  static __device__ __forceinline__ void sort(Memory& m, T (&keys)[Keys], BucketOf bucket_of, T opaque_zero,
                                              unsigned (&positions)[(Keys + 1) / 2],
                                              std::uint16_t* start,  // [max_counted], shared
                                              Counted&& counted) {
    // Positions are in bytes if nobody else wants them and they fit.
    constexpr unsigned unit = !keep_positions && block * Keys * sizeof(T) < 1 << 16 ? sizeof(T) : 1;
    const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size;
    Counters& c = m.counters;
    Sums& s = m.sums;
    uint4* const own = reinterpret_cast<uint4*>(c.counts[warp]);  // of the warp: [words][lanes / 4]
    constexpr unsigned packs = words * warp_size / 4 / warp_size;
    // Loads that wait together: the compiler moves none before a store that might be to the same address.
    constexpr unsigned at_once = 4, keys_at_once = largest_divisor(Keys, 12);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < packs; ++k) own[k * warp_size + lane] = uint4{0, 0, 0, 0};
    __syncwarp();
    // 1. The rank of each key among the lane's keys of its bucket.
    const RowAddress<0, 2, BucketOf> counter_of(bucket_of, &c.counts[warp][0][lane],
                                                static_cast<unsigned>(opaque_zero));
    unsigned ranks[(Keys + 3) / 4];
    rank_own<by>(counter_of, keys, ranks);
    __syncwarp();
    // 2. The keys of a group of four lanes, and of the first two of them, four buckets at once.
    unsigned of_pair[packs];
#pragma unroll
    for (unsigned from = 0; from < packs; from += at_once) {
      uint4 four[at_once];
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) four[k] = own[(from + k) * warp_size + lane];
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        of_pair[from + k] = four[k].x + four[k].y;
        reinterpret_cast<unsigned*>(s.totals)[(warp * packs + from + k) * warp_size + lane] =
            of_pair[from + k] + four[k].z + four[k].w;
      }
    }
    __syncthreads();
    // 3. The groups' first positions. A thread has four buckets, of 16 bits each, in two words: first those in its
    // part, then, once all parts are known, those in the tile.
    const unsigned word = t % words, part = t / words;
    uint2 before[groups], sum{0, 0};
#pragma unroll
    for (unsigned g = 0; g < groups; g += 4) {
      const uint4 four = s.totals[part][g / 8][word][g / 4 % 2];
      const unsigned total[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        before[g + j] = sum;
        sum.x += widen_lower_bytes(total[j]), sum.y += widen_upper_bytes(total[j]);
      }
    }
    uint2 base{0, 0};  // of the part; the last thread's keys, which come first, are part 0's too
    if (part == 0) {
      const unsigned last = c.counts[Warps - 1][word][warp_size - 1];
      base = uint2{widen_lower_bytes(last), widen_upper_bytes(last)};
    }
    s.of_part[part][word] = uint2{base.x + sum.x, base.y + sum.y};
    __syncthreads();
    uint2 all{0u - base.x, 0u - base.y};  // in part 0
#pragma unroll
    for (unsigned p = 0; p < parts; ++p) {
      const uint2 other = s.of_part[p][word];
      if (p < part) base.x += other.x, base.y += other.y;
      all.x += other.x, all.y += other.y;
    }
    unsigned first = 0;
    if (part == 0) {
      const uint4 counts{all.x & 0xffff, all.x >> 16, all.y & 0xffff, all.y >> 16};
      counted(counts);
      const unsigned own_keys = counts.x + counts.y + counts.z + counts.w, upto = warp_scan(own_keys, Sum{});
      if (t == warp_size - 1) s.first_warp = upto;
      first = upto - own_keys;
    }
    __syncthreads();
    if (part == 0) {
      if (warp == 1) first += s.first_warp;
      const unsigned second = first + (all.x & 0xffff), third = second + (all.x >> 16);
      reinterpret_cast<uint2*>(start)[word] = uint2{first | second << 16, third | (third + (all.y & 0xffff)) << 16};
    }
    __syncthreads();
    const uint2 starts = reinterpret_cast<const uint2*>(start)[word];
    base.x = (base.x + starts.x) * unit, base.y = (base.y + starts.y) * unit;
#pragma unroll
    for (unsigned g = 0; g < groups; ++g)
      *reinterpret_cast<uint2*>(&s.first_positions[part * groups + g][4 * word]) =
          uint2{base.x + before[g].x * unit, base.y + before[g].y * unit};
    __syncthreads();
    // 4. The first positions of each pair of lanes, in the counters' memory.
    const std::uint16_t* const of_group =
        &s.first_positions[warp * groups_per_warp + lane % groups_per_warp][4 * (lane / groups_per_warp)];
#pragma unroll
    for (unsigned from = 0; from < packs; from += at_once) {
      uint2 four[at_once];
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        four[k] = *reinterpret_cast<const uint2*>(of_group + 4 * (from + k) * (warp_size / groups_per_warp));
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        own[(from + k) * warp_size + lane] =
            uint4{four[k].x, four[k].y, four[k].x + widen_lower_bytes(of_pair[from + k]) * unit,
                  four[k].y + widen_upper_bytes(of_pair[from + k]) * unit};
    }
    __syncthreads();
    // 5. A key's position: from the pair's first one forward, or from the next pair's backward, by its rank.
    const unsigned pair = (t + 1) / 2 % (block / 2), pairs = warp_size / 2;
    forget_buckets(bucket_of, keys, opaque_zero);
    const RowAddress<1, 2, BucketOf> first_of(bucket_of, &c.firsts[pair / pairs][0][pair % pairs],
                                              static_cast<unsigned>(opaque_zero));
    // Ranks times `unit` if they fit a byte, all bits flipped if the lane counts down: -1 - x.
    constexpr unsigned step = (Keys - 1) * unit < 1 << 8 ? unit : 1;
    const unsigned flip = backward() ? ~0u : 0;
    const SharedAddress sorted = shared_address(m.sorted()) - (backward() ? unit - unit / step : 0);
#pragma unroll
    for (unsigned w = 0; w < (Keys + 3) / 4; ++w) ranks[w] = ranks[w] * step ^ flip;
#pragma unroll
    for (unsigned from = 0; from < Keys; from += keys_at_once) {
      unsigned first_position[keys_at_once];
#pragma unroll
      for (unsigned k = 0; k < keys_at_once; ++k)
        first_position[k] = at_shared<const std::uint16_t>(first_of(keys[from + k]));
#pragma unroll
      for (unsigned j = 0; j < keys_at_once; ++j) {
        const unsigned k = from + j, rank = byte_under(ranks[k / 4], k % 4, flip) * (unit / step);
        const unsigned at = first_position[j] + rank;
        at_shared<T>(at * (sizeof(T) / unit) + sorted) = keys[k];
        if (!keep_positions) continue;
        if (k % 2 == 0)
          positions[k / 2] = at;
        else
          positions[k / 2] |= at << 16;
      }
    }
    fence_before_bulk_copy();  // of something else to m.staged
  }
};

}  // namespace upsweep::multisplit
