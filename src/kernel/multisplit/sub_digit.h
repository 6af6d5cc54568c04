// Sub-digits: for more buckets than a pass can handle, keys are sorted by the lower bits of the bucket number, then
// stably by the upper bits.
#pragma once
#include <bit>

#include "kernel/block.h"
#include "kernel/multisplit/thread_counters.h"

namespace upsweep::multisplit {

// ---- the split ------------------------------------------------------------------------------------------------------

// A field of adjacent bits of a bucket number, as a bucket function.
template <class B>
struct SubDigit {
  B all;
  unsigned first_bit, mask;  // in the bucket number
  unsigned count;            // buckets
  template <class T>
  __device__ unsigned operator()(T key) const {
    return all(key) >> first_bit & mask;
  }
};

// Splits a bucket number into two sub-digits of about equal width.
struct DigitSplit {
  unsigned lower_bits, lower_values, upper_values;
  explicit DigitSplit(unsigned buckets)
      : lower_bits(static_cast<unsigned>(std::bit_width(buckets - 1)) / 2),
        lower_values(1u << lower_bits),
        upper_values(((buckets - 1) >> lower_bits) + 1) {}

  template <class B>
  auto lower(const B& buckets) const {
    return part(buckets, 0, lower_values);
  }
  template <class B>
  auto upper(const B& buckets) const {
    return part(buckets, lower_bits, upper_values);
  }

 private:
  // A sub-digit of a digit is a digit of the key.
  template <class B>
  static auto part(const B& buckets, unsigned first_bit, unsigned values) {
    if constexpr (is_digit<B>)
      return B{buckets.first_bit + first_bit, values};
    else
      return SubDigit<B>{buckets, first_bit, std::bit_ceil(values) - 1, values};
  }
};

// ---- ranks ----------------------------------------------------------------------------------------------------------

// Ranks a tile's keys by a sub-digit of up to 64 values, with per-lane counters and first positions. Block-wide, by
// `Warps` warps; each lane owns `Keys` consecutive keys.
//
// As in ThreadRanks, a lane has one byte counter per value. With 64 values instead of 256, there is memory for per-lane
// first positions too, 16 bits per value: a lane looks up positions in its own bank, whereas tables shared by four
// lanes would cause bank conflicts.
//
// A warp sums the counts of its eight groups of four lanes by shuffles; then every warp sums the totals of the
// preceding warps. That takes one barrier.
template <unsigned Warps, unsigned Keys>
struct SubDigitRanks {
  static constexpr unsigned keys = Keys, max_values = 64;
  static constexpr unsigned words = max_values / 4;  // word w has the bytes of values 4 w to 4 w + 3
  static constexpr unsigned lanes_per_group = 4, groups = warp_size / lanes_per_group;
  static constexpr unsigned packs = words * groups / warp_size;  // per lane; a pack has the words of four lanes
  static constexpr unsigned packed_values = max_values / packs;
  static_assert(lanes_per_group * Keys < 256, "the counts of a group fit a byte");
  static_assert(Warps * warp_size * Keys <= 1 << 16, "positions have 16 bits");

  // The position in the unsorted tile of this thread's key k.
  static __device__ unsigned element(unsigned k) { return first_element() + k; }
  static __device__ unsigned first_element() { return threadIdx.x * Keys; }
  static constexpr bool consecutive = true;

  // Shared memory of find_positions().
  struct Memory {
    union {
      uint4 counts[words][groups];                    // bytes
      uint4 first_positions[max_values / 2][groups];  // word w of a lane: values 2 w and 2 w + 1
    } of_warp[Warps];
    unsigned totals[Warps][warp_size];  // word l: values 2 l and 2 l + 1
  };

  // Block-wide: ranks the tile's keys by value_of(key), which is below `values`. Calls, in this order:
  //   meanwhile(k)      for each key k, while its counter loads;
  //   all_counted()     after the only barrier, at which all threads have their keys in registers;
  //   put(k, position)  for each key k.
  // `opaque_zero` is 0 but unknown to the compiler, which would otherwise keep every key's value in a register.
  template <class T, class Part, class AllCounted, class Put, class Meanwhile = NoHook>
  static __device__ __forceinline__ void find_positions(Memory& m, T (&keys)[Keys], Part value_of, unsigned values,
                                                        T opaque_zero, AllCounted&& all_counted, Put&& put,
                                                        Meanwhile&& meanwhile = {}) {
    const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size, group = lane % groups;
    auto& own = m.of_warp[warp];
    uint4* const counts = own.counts[0];
#pragma unroll
    for (unsigned k = 0; k < packs; ++k)
      if (k * packed_values < values) counts[k * warp_size + lane] = uint4{0, 0, 0, 0};
    __syncwarp();
    // 1. Rank each key among the lane's keys of the same value.
    unsigned ranks[(Keys + 3) / 4];
    const auto* const column = reinterpret_cast<const unsigned*>(counts) + lane;
    rank_own<Counting::reads>(RowAddress<0, 2, Part>(value_of, column, static_cast<unsigned>(opaque_zero)), keys, ranks,
                              meanwhile);
    __syncwarp();
    // 2. Count the keys of the warp's preceding groups. Pack k has four values, 16 bits each in two words.
    uint4 four[packs];
    uint2 before[packs];
#pragma unroll
    for (unsigned k = 0; k < packs; ++k) {
      if (k * packed_values >= values) break;
      four[k] = counts[k * warp_size + lane];
      const unsigned bytes = four[k].x + four[k].y + four[k].z + four[k].w;
      const uint2 sum{widen_lower_bytes(bytes), widen_upper_bytes(bytes)};
      uint2 upto = sum;
#pragma unroll
      for (unsigned distance = 1; distance < groups; distance *= 2) {
        const unsigned x = shuffle_up(upto.x, distance), y = shuffle_up(upto.y, distance);
        if (group >= distance) upto.x += x, upto.y += y;
      }
      if (group == groups - 1) *reinterpret_cast<uint2*>(&m.totals[warp][2 * ((k * warp_size + lane) / groups)]) = upto;
      before[k] = uint2{upto.x - sum.x, upto.y - sum.y};
    }
    __syncthreads();
    all_counted();
    // 3. Find the warp's first positions; each lane handles values 2 lane and 2 lane + 1.
    unsigned base = 0, all = 0;
    if (2 * lane < values) {
#pragma unroll
      for (unsigned w = 0; w < Warps; ++w) {
        const unsigned total = m.totals[w][lane];
        if (w < warp) base += total;
        all += total;
      }
    }
    const unsigned sum = (all & 0xffff) + (all >> 16), start = warp_scan(sum, Sum{}) - sum;
    base += start | (start + (all & 0xffff)) << 16;
    // 4. Find the first positions of the warp's lanes.
#pragma unroll
    for (unsigned k = 0; k < packs; ++k) {
      if (k * packed_values >= values) break;
      const unsigned word = (k * warp_size + lane) / groups;
      const unsigned lower = shuffle(base, 2 * word) + before[k].x;
      const unsigned upper = shuffle(base, 2 * word + 1) + before[k].y;
      const uint4 lower_counts{widen_lower_bytes(four[k].x), widen_lower_bytes(four[k].y), widen_lower_bytes(four[k].z),
                               0};
      const uint4 upper_counts{widen_upper_bytes(four[k].x), widen_upper_bytes(four[k].y), widen_upper_bytes(four[k].z),
                               0};
      const auto add_up = [](unsigned start, const uint4& count) {
        const unsigned second = start + count.x, third = second + count.y;
        return uint4{start, second, third, third + count.z};
      };
      own.first_positions[2 * word][group] = add_up(lower, lower_counts);
      own.first_positions[2 * word + 1][group] = add_up(upper, upper_counts);
    }
    __syncwarp();
    // 5. A key's position is the lane's first position plus the key's rank.
    forget_buckets(value_of, keys, opaque_zero);
    const RowAddress<1, 1, Part> first_of(value_of, column, static_cast<unsigned>(opaque_zero));
    constexpr unsigned at_once = 12;  // look-ups in flight per lane
#pragma unroll
    for (unsigned from = 0; from < Keys; from += at_once) {
      unsigned first[at_once];
#pragma unroll
      for (unsigned k = from; k < from + at_once && k < Keys; ++k)
        first[k - from] = at_shared<const std::uint16_t>(first_of(keys[k]));
#pragma unroll
      for (unsigned k = from; k < from + at_once && k < Keys; ++k)
        put(k, first[k - from] + byte_under(ranks[k / 4], k % 4, 0));
    }
  }
};

}  // namespace upsweep::multisplit
