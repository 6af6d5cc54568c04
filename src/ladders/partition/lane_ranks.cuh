// Places of a tile's keys in the order of their buckets, by counters that each lane has to itself.
//
// Lanes that count in common counters need to know who else has the same bucket: eight ballots, 27 cycles per 32 keys
// of a multiprocessor of an H200, or atomics, which take 2 to 4 cycles but 32 where all keys are the same, and do not
// keep the order. Here a lane owns consecutive keys and one byte for each of 256 buckets: to rank a key is to read its
// byte and to write it back incremented, 2.6 cycles. 32 lanes use 32 banks, whatever the keys are. What remains is to
// add up the bytes of all lanes, bucket by bucket: first of four lanes, whose counts fit a byte, then of these groups.
//
// Source    Satish, Harris, Garland, 2009, and Merrill, Grimshaw, High Performance and Scalable Radix Sorting, 2011 (a
//           thread's own counters, for up to 32 buckets).
#pragma once
#include "kernel/async.h"
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
  static __device__ unsigned element(unsigned k) { return threadIdx.x * Keys + k; }
  static constexpr bool consecutive = true;

  // Needed only inside place().
  struct Memory {
    unsigned counts[Warps][words][warp_size];
    union {
      uint4 totals[parts][2][words][2];  // of the groups of each warp, bytes like the counts
      // The first place of each group; rows begin four banks apart, because lanes of one warp look in eight of them.
      std::uint16_t places[Warps * groups_per_warp][most_counted + 8];
    };
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
    // 2. The keys of the lanes before it in the group of four, and of the group, four buckets at once.
#pragma unroll
    for (unsigned k = 0; k < packs; ++k) {
      const uint4 c = own[k * warp_size + lane];
      const unsigned two = c.x + c.y, three = two + c.z;
      own[k * warp_size + lane] = uint4{0, c.x, two, three};
      reinterpret_cast<unsigned*>(m.totals)[(warp * packs + k) * warp_size + lane] = three + c.w;
    }
    __syncthreads();
    // 3. The groups' first places. A thread has four buckets, of 16 bits each: the even ones in one word, the odd ones
    // in another.
    const unsigned word = t % words, part = t / words;
    unsigned total[groups], even = 0, odd = 0;
#pragma unroll
    for (unsigned k = 0; k < groups / 4; ++k) {
      const uint4 four = m.totals[part][k / 2][word][k % 2];
      total[4 * k] = four.x, total[4 * k + 1] = four.y, total[4 * k + 2] = four.z, total[4 * k + 3] = four.w;
    }
    const auto evens = [](unsigned all) { return all & 0xff00ff; };
    const auto odds = [](unsigned all) { return all >> 8 & 0xff00ff; };
#pragma unroll
    for (unsigned g = 0; g < groups; ++g) even += evens(total[g]), odd += odds(total[g]);
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
#pragma unroll
    for (unsigned g = 0; g < groups; ++g) {
      *reinterpret_cast<uint2*>(&m.places[part * groups + g][4 * word]) =
          uint2{(even & 0xffff) | odd << 16, even >> 16 | (odd & 0xffff0000u)};
      even += evens(total[g]), odd += odds(total[g]);
    }
    __syncthreads();
    // 4. A key's place: the group's first one, the keys of lanes before it, and its rank.
    const std::uint16_t* const of_group = m.places[t / lanes_per_group];
#pragma unroll
    for (unsigned k = 0; k < Keys; ++k) keys[k] ^= nothing;
#pragma unroll
    for (unsigned k = 0; k < Keys; ++k) {
      const unsigned at = of_group[bucket_of(keys[k])] + *counter_of(keys[k]) + (ranks[k / 4] >> k % 4 * 8 & 0xff);
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
