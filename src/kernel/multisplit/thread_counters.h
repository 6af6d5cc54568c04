// Positions of a tile's keys in bucket order, from per-lane counters.
//
// Lanes that share counters must find the lanes with the same bucket. Per 32 keys, a multiprocessor of an H200 takes 27
// cycles for eight ballots. Atomics take 2 to 4 cycles, but 32 if all keys are the same, and do not keep the order.
//
// Here a lane owns consecutive keys and one byte counter for each of 256 buckets. It ranks a key by reading the byte
// and writing it back incremented, in 2.6 cycles per 32 keys, or by an atomic addition to the byte's word, which does
// not wait for the previous key. 32 lanes use 32 banks, whatever the keys. The bytes of all lanes are then summed per
// bucket: first over groups of four lanes, whose sums fit in a byte, then over the groups.
//
// The sums give first positions, which are looked up once per key. There is one table of them per pair of lanes, in the
// two banks where the pair's counters were. The second lane needs no table: the first lane has its keys in order and
// counts up from the pair's first position; the second has its keys in reverse and counts down from the next pair's
// first position.
//
// Source    Satish, Harris, Garland, 2009, and Merrill, Grimshaw, High Performance and Scalable Radix Sorting, 2011
//           (per-thread counters, for up to 32 buckets).
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

// True if bucket numbers are bits of the key.
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

// Returns the key, shifted so that its digit begins at bit `to`; the other bits are arbitrary.
template <unsigned to, class B, class T>
__device__ __forceinline__ unsigned move_digit(const B& digit, T key) {
  if constexpr (sizeof(T) <= 4 && to > 0)
    return __funnelshift_r(key, key, digit.first_bit - to);  // a rotation, so the shift is modulo 32
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

// Maps a key to the shared-memory address of its bucket's element, of 2^shift bytes. Each row of 128 bytes has the
// elements of 2^row adjacent buckets. `shared` is the address of the first element, a multiple of 2^(shift + row).
template <unsigned shift, unsigned row, class B>
struct RowAddress {
  static constexpr unsigned in_row = (1 << row) - 1, to_rows = 7 - row - shift;
  B buckets;
  SharedAddress column, flipped;
  unsigned rows, flipped_rows, elements;  // masks for a digit that begins at bit `shift`
  unsigned bits, bits_flipped;            // likewise at bit 3, for first_bit()
  // `opaque_zero` is 0 but unknown to the compiler, which would otherwise split the masks, at the cost of another
  // instruction per key.
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
  // For byte counters, four per word: word() returns the address of the word, first_bit() the lowest bit of the byte in
  // the word.
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

// Makes the compiler recompute results from these values, instead of keeping the results in registers. `opaque_zero` is
// 0 but unknown to the compiler.
template <class T, unsigned count>
__device__ __forceinline__ void forget(T (&values)[count], T opaque_zero) {
#pragma unroll
  for (unsigned k = 0; k < count; ++k) values[k] ^= opaque_zero;
}
// Does the same for the keys' buckets, in one operation if buckets are a digit of the key.
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

// Counts a lane's keys in the lane's byte counters, and sets byte k % 4 of ranks[k / 4] to the number of the lane's
// earlier keys in key k's bucket. Calls meanwhile(k) while key k's counter loads.
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

// TileRanks by per-lane counters, in blocks of `Warps` warps; each lane owns `Keys` consecutive keys. The last thread
// has the tile's first keys, followed by those of thread 0. So the two threads that look up the same table, (last, 0),
// (1, 2) and so on, count down and up from the start of some thread's keys, and none counts down from the end of the
// tile.
template <unsigned Warps, unsigned Keys>
struct ThreadRanks {
  static constexpr unsigned keys = Keys, block = Warps * warp_size;
  static constexpr unsigned lanes_per_group = 4, groups_per_warp = warp_size / lanes_per_group;
  static constexpr unsigned words = max_counted / 4;       // word w has the bytes of buckets 4 w to 4 w + 3
  static constexpr unsigned parts = Warps / 2;             // 64 threads sum the groups of a part
  static constexpr unsigned groups = 2 * groups_per_warp;  // per part
  static_assert(Warps % 2 == 0 && 2 * warp_size == words, "a thread for each word and part");
  static_assert(lanes_per_group * Keys < 256, "the counts of a group fit a byte");
  static_assert(block * Keys < 1 << 16, "positions have 16 bits");

  // The position in the unsorted tile of this thread's key k, and of its first key in memory order.
  static __device__ unsigned element(unsigned k) { return first_element() + (backward() ? Keys - 1 - k : k); }
  static __device__ unsigned first_element() { return threadIdx.x + 1 == block ? 0 : (threadIdx.x + 1) * Keys; }
  static constexpr bool consecutive = true;
  // True if this lane has its keys in reverse.
  static __device__ bool backward() { return threadIdx.x % 2 == 1; }

  union Counters {
    unsigned counts[Warps][words][warp_size];
    uint2 firsts[Warps][words][warp_size / 2];  // the first positions of each pair of lanes, 16 bits each
  };
  struct Sums {
    uint4 totals[parts][2][words][2];  // of each warp's groups, in bytes like the counts
    // The first position of each group. Rows begin four banks apart, so that lanes reading eight rows use all banks.
    std::uint16_t first_positions[Warps * groups_per_warp][max_counted + 8];
    uint2 of_part[parts][words];
    unsigned first_warp;
  };
  // Shared memory of a tile being sorted. The next tile arrives in the counters' memory; the sorted keys replace the
  // sums.
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

  // Block-wide: stores the keys in m.sorted() by bucket, and sets start[b] to the first position of bucket b. If
  // `keep_positions`, the position of this thread's key k is half k % 2 of positions[k / 2]. As soon as the tile is
  // counted, each thread t < 64 calls counted() with the counts of buckets 4 t to 4 t + 3. `opaque_zero` is 0 but
  // unknown to the compiler, which would otherwise keep the addresses of all counters in registers. Begins with a
  // barrier; after the caller's next barrier, the keys are sorted and m.staged() is free.
  template <bool keep_positions, Counting by, class Memory, class T, class BucketOf, class Counted>
  static __device__ __forceinline__ void sort(Memory& m, T (&keys)[Keys], BucketOf bucket_of, T opaque_zero,
                                              unsigned (&positions)[(Keys + 1) / 2],
                                              std::uint16_t* start,  // [max_counted], shared
                                              Counted&& counted) {
    // Positions are in bytes if they are not kept and fit 16 bits.
    constexpr unsigned unit = !keep_positions && block * Keys * sizeof(T) < 1 << 16 ? sizeof(T) : 1;
    const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size;
    Counters& c = m.counters;
    Sums& s = m.sums;
    uint4* const own = reinterpret_cast<uint4*>(c.counts[warp]);  // of the warp: [words][lanes / 4]
    constexpr unsigned packs = words * warp_size / 4 / warp_size;
    // Loads in flight together: the compiler moves no load above a store that may alias it.
    constexpr unsigned at_once = 4, keys_at_once = largest_divisor(Keys, 12);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < packs; ++k) own[k * warp_size + lane] = uint4{0, 0, 0, 0};
    __syncwarp();
    // 1. Rank each key among the lane's keys of its bucket.
    const RowAddress<0, 2, BucketOf> counter_of(bucket_of, &c.counts[warp][0][lane],
                                                static_cast<unsigned>(opaque_zero));
    unsigned ranks[(Keys + 3) / 4];
    rank_own<by>(counter_of, keys, ranks);
    __syncwarp();
    // 2. Count the keys of each group of four lanes, and of its first two lanes, four buckets per word.
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
    // 3. Find the groups' first positions. A thread has four buckets, 16 bits each in two words. Positions are relative
    // to the thread's part at first, and to the tile once all parts are summed.
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
    uint2 base{0, 0};  // keys before the part; in part 0, the last thread's, which come first
    if (part == 0) {
      const unsigned last = c.counts[Warps - 1][word][warp_size - 1];
      base = uint2{widen_lower_bytes(last), widen_upper_bytes(last)};
    }
    s.of_part[part][word] = uint2{base.x + sum.x, base.y + sum.y};
    __syncthreads();
    uint2 all{0u - base.x, 0u - base.y};  // sums of all parts; valid in part 0
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
    // 4. Store the first positions of each pair of lanes in the counters' memory.
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
    // 5. Compute each key's position, by counting its rank up from the pair's first position or down from the next
    // pair's, and store the key there.
    const unsigned pair = (t + 1) / 2 % (block / 2), pairs = warp_size / 2;
    forget_buckets(bucket_of, keys, opaque_zero);
    const RowAddress<1, 2, BucketOf> first_of(bucket_of, &c.firsts[pair / pairs][0][pair % pairs],
                                              static_cast<unsigned>(opaque_zero));
    // Multiplies the ranks by `unit` if the products fit in a byte, and complements them (-1 - x) if the lane counts
    // down.
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
    fence_before_bulk_copy();  // the next copy overwrites m.staged()
  }
};

}  // namespace upsweep::multisplit
