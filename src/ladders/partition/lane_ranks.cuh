// Places of a tile's keys in the order of their buckets, by counters that each lane has to itself.
//
// Lanes that count in common counters need to know who else has the same bucket: eight ballots, 27 cycles per 32 keys
// of a multiprocessor of an H200, or atomics, which take 2 to 4 cycles but 32 where all keys are the same, and do not
// keep the order. Here a lane owns consecutive keys and one byte for each of 256 buckets: to rank a key is to read its
// byte and to write it back incremented, 2.6 cycles. 32 lanes use 32 banks, whatever the keys are. What remains is to
// add up the bytes of all lanes, bucket by bucket: first of four lanes, whose counts fit a byte, then of these groups.
//
// The first places that follow are looked up, one for each key. Two lanes have a table of them in the two banks where
// their counters were, and it needs no count of the first lane's keys beside it: the first lane has its keys in order
// and counts places up from the pair's first one, the second has them in reverse and counts down from the next pair's.
//
// Source    Satish, Harris, Garland, 2009, and Merrill, Grimshaw, High Performance and Scalable Radix Sorting, 2011 (a
//           thread's own counters, for up to 32 buckets).
#pragma once
#include "kernel/async.h"
#include "kernel/bytes.h"
#include "kernel/vector.h"
#include "kernel/warp.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// Block-wide, by `Warps` warps of which each lane owns `Keys` consecutive keys.
template <unsigned Warps, unsigned Keys>
struct LaneRanks {
  static constexpr unsigned lanes_per_group = 4, groups_per_warp = warp_size / lanes_per_group;
  static constexpr unsigned words = most_counted / 4;      // word w has the bytes of buckets 4 w to 4 w + 3
  static constexpr unsigned parts = Warps / 2;             // of the groups: 64 threads add up each
  static constexpr unsigned groups = 2 * groups_per_warp;  // of a part
  static_assert(Warps % 2 == 0 && 2 * warp_size == words, "a thread for each word and part");
  static_assert(lanes_per_group * Keys < 256, "the counts of a group fit a byte");
  static_assert(Warps * warp_size * Keys <= 1 << 16, "places have 16 bits");

  // The place in the tile, before it is sorted, of this thread's key k.
  static __device__ unsigned element(unsigned k) { return threadIdx.x * Keys + (backward() ? Keys - 1 - k : k); }
  static constexpr bool consecutive = true;
  // True if this lane has its keys from the last to the first.
  static __device__ bool backward() { return threadIdx.x % 2 == 1; }

  // Needed only inside place().
  struct Memory {
    union {
      unsigned counts[Warps][words][warp_size];
      uint2 firsts[Warps][words][warp_size / 2];  // the first places of each pair of lanes, 16 bits each
    };
    uint4 totals[parts][2][words][2];  // of the groups of each warp, bytes like the counts
    // The first place of each group, and of one past the last. Rows begin four banks apart, so that lanes that read
    // eight of them use all banks.
    std::uint16_t places[Warps * groups_per_warp + 1][most_counted + 8];
    uint2 of_part[parts][words];
    unsigned first_warp;
  };

  // The place of this thread's key k is half k % 2 of place[k / 2]; start[b] becomes the first place of bucket b.
  // As soon as the tile is counted, threads 0 to 63 each call counted(counts of buckets 4 t to 4 t + 3). `nothing` is
  // 0, which the compiler must not know: it would keep the addresses of all counters in registers. Begins and ends with
  // a barrier.
  template <class T, class BucketOf, class Counted>
  static __device__ __forceinline__ void place(Memory& m, T (&keys)[Keys], BucketOf bucket_of, T nothing,
                                               unsigned (&place)[(Keys + 1) / 2],
                                               std::uint16_t* start,  // [most_counted], shared
                                               Counted&& counted) {
    const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size;
    uint4* const own = reinterpret_cast<uint4*>(m.counts[warp]);  // of the warp: [words][lanes / 4]
    constexpr unsigned packs = words * warp_size / 4 / warp_size;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < packs; ++k) own[k * warp_size + lane] = uint4{0, 0, 0, 0};
    __syncwarp();
    // 1. The rank of each key among the lane's keys of its bucket.
    auto* const bytes = reinterpret_cast<std::uint8_t*>(m.counts[warp]) + lane * sizeof(unsigned);
    const auto counter_of = [&](T key) {
      const unsigned bucket = bucket_of(key);
      return bytes + (bucket & ~3u) * warp_size + (bucket & 3);
    };
    unsigned ranks[(Keys + 3) / 4] = {};
#pragma unroll
    for (unsigned k = 0; k < Keys; ++k) {
      std::uint8_t* const counter = counter_of(keys[k]);
      const unsigned rank = *counter;
      *counter = static_cast<std::uint8_t>(rank + 1);
      ranks[k / 4] |= rank << k % 4 * 8;
    }
    __syncwarp();
    // 2. The keys of a group of four lanes, and of the first two of them, four buckets at once.
    unsigned of_pair[packs];
#pragma unroll
    for (unsigned k = 0; k < packs; ++k) {
      const uint4 c = own[k * warp_size + lane];
      of_pair[k] = c.x + c.y;
      reinterpret_cast<unsigned*>(m.totals)[(warp * packs + k) * warp_size + lane] = of_pair[k] + c.z + c.w;
    }
    __syncthreads();
    // 3. The groups' first places. A thread has four buckets, of 16 bits each: the even ones in one word, the odd ones
    // in another.
    const unsigned word = t % words, part = t / words;
    unsigned even = 0, odd = 0;
    const auto evens = [](unsigned all) { return all & 0xff00ff; };
    const auto odds = [](unsigned all) { return all >> 8 & 0xff00ff; };
#pragma unroll
    for (unsigned k = 0; k < groups / 4; ++k) {
      const uint4 four = m.totals[part][k / 2][word][k % 2];
      even += evens(four.x) + evens(four.y) + evens(four.z) + evens(four.w);
      odd += odds(four.x) + odds(four.y) + odds(four.z) + odds(four.w);
    }
    m.of_part[part][word] = uint2{even, odd};
    __syncthreads();
    unsigned all_even = 0, all_odd = 0;
    even = odd = 0;  // of the parts before
#pragma unroll
    for (unsigned p = 0; p < parts; ++p) {
      const uint2 other = m.of_part[p][word];
      if (p < part) even += other.x, odd += other.y;
      all_even += other.x, all_odd += other.y;
    }
    const unsigned sum = (all_even & 0xffff) + (all_even >> 16) + (all_odd & 0xffff) + (all_odd >> 16);
    unsigned first = 0;
    if (part == 0) {
      counted(uint4{all_even & 0xffff, all_odd & 0xffff, all_even >> 16, all_odd >> 16});
      const unsigned all = warp_scan(sum, Sum{});
      if (t == warp_size - 1) m.first_warp = all;
      first = all - sum;
    }
    __syncthreads();
    if (part == 0) {
      if (warp == 1) first += m.first_warp;
      const unsigned second = first + (all_even & 0xffff), third = second + (all_odd & 0xffff);
      auto* const four = reinterpret_cast<uint2*>(start);
      four[word] = uint2{first | second << 16, third | (third + (all_even >> 16)) << 16};
    }
    __syncthreads();
    const uint2 starts = reinterpret_cast<const uint2*>(start)[word];
    even += (starts.x & 0xffff) | starts.y << 16;
    odd += starts.x >> 16 | (starts.y & 0xffff0000u);
    const auto put = [&](unsigned group) {
      *reinterpret_cast<uint2*>(&m.places[group][4 * word]) =
          uint2{(even & 0xffff) | odd << 16, even >> 16 | (odd & 0xffff0000u)};
    };
#pragma unroll
    for (unsigned g = 0; g < groups; g += 4) {
      const uint4 four = m.totals[part][g / 8][word][g / 4 % 2];
      const unsigned total[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        put(part * groups + g + j);
        even += evens(total[j]), odd += odds(total[j]);
      }
    }
    if (part == parts - 1) put(Warps * groups_per_warp);
    __syncthreads();
    // 4. The first places of each pair of lanes, in the counters' memory.
    const unsigned group = warp * groups_per_warp + lane % groups_per_warp;
#pragma unroll
    for (unsigned k = 0; k < packs; ++k) {
      const unsigned of_word = (k * warp_size + lane) / groups_per_warp;
      const uint2 four = *reinterpret_cast<const uint2*>(&m.places[group][4 * of_word]);
      own[k * warp_size + lane] =
          uint4{four.x, four.y, four.x + widen_lower_bytes(of_pair[k]), four.y + widen_upper_bytes(of_pair[k])};
    }
    __syncwarp();
    // 5. A key's place: from the pair's first one forward, or from the next pair's backward, by its rank. What follows
    // the warp's last pair is the next warp's first group.
    const bool last = lane == warp_size - 1;
    const auto* const from = last ? reinterpret_cast<const std::uint8_t*>(m.places[(warp + 1) * groups_per_warp])
                                  : reinterpret_cast<const std::uint8_t*>(&m.firsts[warp][0][(lane + 1) / 2]);
    const unsigned per_four = (last ? sizeof(uint2) : sizeof m.firsts[0][0]) / 4, flip = backward() ? ~0u : 0;
    if constexpr (requires {
                    bucket_of.first_bit;
                    bucket_of.last_key();
                  }) {  // a digit: one operation instead of Keys
      bucket_of.first_bit ^= static_cast<unsigned>(nothing);
    } else {
#pragma unroll
      for (unsigned k = 0; k < Keys; ++k) keys[k] ^= nothing;
    }
#pragma unroll
    for (unsigned k = 0; k < Keys; ++k) {
      const unsigned bucket = bucket_of(keys[k]);
      const unsigned first_place =
          *reinterpret_cast<const std::uint16_t*>(from + (bucket & ~3u) * per_four + (bucket & 3) * 2);
      const unsigned at = first_place + ((ranks[k / 4] >> k % 4 * 8 & 0xff) ^ flip);
      if (k % 2 == 0)
        place[k / 2] = at;
      else
        place[k / 2] |= at << 16;
    }
    fence_before_bulk_copy();  // of something else to m
    __syncthreads();
  }
};

}  // namespace upsweep::ladders::partition
