// Counts each value of each digit in one read of the keys, and plans the passes of a sort from the counts.
#pragma once
#include "kernel/last_block.h"
#include "kernel/vector.h"
#include "kernel/warp.h"
#include "ladders/sort/contract.h"

namespace upsweep::ladders::sort {

inline constexpr unsigned digit_bits = 8, digit_values = 1 << digit_bits, max_digits = 64 / digit_bits;

// The digits of the compared bits, lowest first; the last may have fewer than 8 bits.
struct Digits {
  unsigned first_bit, bits;
  UPSWEEP_HD unsigned count() const { return (bits + digit_bits - 1) / digit_bits; }
  // Returns the number of values of digit d; past the last digit 1, so that a pass by such a digit only copies.
  UPSWEEP_HD unsigned values(unsigned d) const {
    const unsigned left = d * digit_bits < bits ? bits - d * digit_bits : 0;
    return 1u << (left < digit_bits ? left : digit_bits);
  }
  UPSWEEP_HD unsigned first_bit_of(unsigned d) const { return d < count() ? first_bit + d * digit_bits : 0; }
  UPSWEEP_HD unsigned end_bit_of(unsigned d) const {
    const unsigned end = (d + 1) * digit_bits;
    return first_bit + (end < bits ? end : bits);
  }
};

// Maps a number to its bucket, one of its digits.
template <class Order>
struct NumberDigit {
  Order order;
  unsigned shift;
  unsigned count;  // a power of two
  template <class N>
  UPSWEEP_HD unsigned operator()(N number) const {
    return static_cast<unsigned>(order.merged(number) >> shift) & (count - 1);
  }
};

using Counter = unsigned long long;  // 64 bits, in the type that atomicAdd() takes

// ---- passes ---------------------------------------------------------------------------------------------------------

inline constexpr unsigned skipped = ~0u;

// The planned passes: one per digit in which keys differ, lowest first; or one by the highest such digit, followed by a
// separate sort of each bucket as the second pass.
struct Passes {
  unsigned count;
  unsigned digit[max_digits + 1];            // per pass; the rest are `skipped`
  unsigned merges;                           // not 0: some keys are equal though their numbers differ
  unsigned bucket_starts[digit_values + 1];  // of the buckets to sort; all 0 if there are none
  std::uint64_t starts[max_digits + 1][digit_values];
  std::uint64_t other_starts[digit_values];  // double buffer with starts[d]: a launch reads one and writes the other
};

// Constraints on the number of passes: even if sorting in place; otherwise at least `min_passes`, so that the output is
// written.
struct PassRules {
  bool even;
  unsigned min_passes;
  unsigned max_in_bucket = 0;  // the largest bucket that can be sorted separately, in keys; 0 if none can
};

// Sets the number of passes and their digits. Called by one thread.
static __device__ void plan_digits(const bool* differs, const Counter* greatest, unsigned digits, PassRules rules,
                                   Passes* passes, unsigned& by_bucket) {
  unsigned differing = 0, highest = 0, number = 0;
  for (unsigned k = 0; k < digits; ++k)
    if (differs[k]) ++differing, highest = k;
  if (differing > 1 && greatest[highest] <= rules.max_in_bucket) {
    by_bucket = passes->digit[number++] = highest;
    passes->count = 2;
  } else {
    unsigned needed = differing < rules.min_passes ? rules.min_passes : differing;
    needed += rules.even && needed % 2;
    // Passes by digits in which all keys agree are plain copies: they pad the passes to `needed`, which may be one more
    // than there are digits.
    unsigned copies = needed - differing;
    for (unsigned k = 0; k <= digits; ++k) {
      bool runs = k < digits && differs[k];
      if (!runs && copies > 0) {
        runs = true;
        --copies;
      }
      if (runs) passes->digit[number++] = k;
    }
    passes->count = needed;
  }
  while (number <= digits) passes->digit[number++] = skipped;
}

// Block-wide: plans the passes from the counts of all keys, with one warp per digit.
[[maybe_unused]] static __device__ void plan_passes(
    Counter* counts,    // [digits][digit_values], left zero
    unsigned* merging,  // blocks with keys that merge, left zero; null if none can
    unsigned digits, std::size_t n, PassRules rules, Passes* passes) {
  __shared__ bool differs[max_digits + 1];
  __shared__ Counter greatest[max_digits + 1];
  __shared__ unsigned by_bucket;  // digit of the only pass before buckets are sorted, or `skipped`
  const unsigned lane = threadIdx.x % warp_size, d = threadIdx.x / warp_size;
  constexpr unsigned each = digit_values / warp_size;
  if (d < digits) {
    Counter own[each], sum = 0, largest = 0;
    bool all = false;
#pragma unroll
    for (unsigned k = 0; k < each; ++k) own[k] = atomicExch(&counts[d * digit_values + lane * each + k], Counter(0));
#pragma unroll
    for (unsigned k = 0; k < each; ++k) {
      sum += own[k];
      all |= own[k] == n;
      largest = own[k] > largest ? own[k] : largest;
    }
    Counter start = warp_scan(sum, Sum{}) - sum;
#pragma unroll
    for (unsigned k = 0; k < each; ++k) {
      passes->starts[d][lane * each + k] = start;
      start += own[k];
    }
    const unsigned same = __ballot_sync(all_lanes, all);
    largest = warp_reduce(largest, Max{});
    if (lane == 0) {
      differs[d] = !same;
      greatest[d] = largest;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    by_bucket = skipped;
    passes->merges = merging ? atomicExch(merging, 0u) : 0;
    plan_digits(differs, greatest, digits, rules, passes, by_bucket);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b <= digit_values; b += blockDim.x) {
    if (b < digit_values) passes->starts[digits][b] = 0;
    std::uint64_t start = 0;
    if (by_bucket != skipped) start = b < digit_values ? passes->starts[by_bucket][b] : n;
    passes->bucket_starts[b] = static_cast<unsigned>(start);
  }
}

// ---- counts ---------------------------------------------------------------------------------------------------------

// Each multiprocessor runs one block, which counts in a private table in shared memory. Counters are privatised in rows
// of `copies` words: lane l adds to word l % copies, so lanes with different values rarely conflict on a bank, and
// never with 32 copies. With eight digits, there is space for only 16. On GPUs with too little shared memory per block,
// `few_copies` shrinks the table to 32 KB.
inline constexpr unsigned counts_block = 1024;
template <unsigned digits>
inline constexpr unsigned copies = digits > 4 ? 16 : 32;
template <unsigned digits>
inline constexpr unsigned few_copies = digits > 4 ? 4 : 8;
constexpr std::size_t counts_bytes(unsigned digits, unsigned copies) {
  return std::size_t(digits) * digit_values * copies * sizeof(unsigned);
}

// The table with all copies, plus 256 bytes of static shared memory for plan_passes().
constexpr Needs digit_counts_needs(unsigned digits) { return {{}, counts_bytes(digits, digits > 4 ? 16 : 32) + 256}; }

// Counts `counted` digits; those past the compared bits are 0. The last block to finish then plans the passes. As in a
// byte histogram, every byte of a key costs an addition, so a counter's address must be cheap: it is the byte, shifted,
// without branches.
template <unsigned counted, unsigned copies, class Order>
__global__ void __launch_bounds__(counts_block, 1)
    digit_counts_kernel(const typename Order::Key* keys, std::size_t n, Order order, Digits digits, PassRules rules,
                        Counter* counts,                     // [digits][digit_values], zero
                        unsigned* done,                      // [2]: blocks done; blocks with merging keys; left zero
                        Passes* passes,                      // null: the counts are left for the caller
                        uint4* zeroed, std::size_t packs) {  // [packs], zeroed for the first pass
  using K = typename Order::Key;
  unsigned* const words = dynamic_shared<unsigned>();  // [counted][digit_values][copies]
  using Bits = std::conditional_t<(counted > 4), std::uint64_t, std::uint32_t>;
  const unsigned t = threadIdx.x, counters = digits.count() * digit_values;
  for (unsigned w = t; w < counted * digit_values * copies / 4; w += counts_block)
    reinterpret_cast<uint4*>(words)[w] = uint4{0, 0, 0, 0};
  allow_next_launch();
  __syncthreads();
  unsigned* const own = words + t % copies;
  const unsigned first_bit = digits.first_bit;
  const Bits mask = static_cast<Bits>(~std::uint64_t(0) >> (64 - digits.bits));
  bool any_merges = false;
  const auto count = [&](K key) {
    const K number = order.number(key), merged = order.merged(number);
    any_merges |= merged != number;
    const Bits compared = static_cast<Bits>(merged >> first_bit) & mask;
#pragma unroll
    for (unsigned d = 0; d < counted; ++d)
      atomicAdd(&own[(d * digit_values + unsigned(compared >> d * digit_bits & 0xff)) * copies], 1u);
  };
  const std::size_t step = std::size_t(gridDim.x) * counts_block, first = std::size_t(blockIdx.x) * counts_block + t;
  for (std::size_t i = first; i < packs; i += step) zeroed[i] = uint4{0, 0, 0, 0};
  const PackSplit<K> split(keys, n);
  constexpr unsigned at_once = 4;  // packs in flight per thread: 64 KB per multiprocessor
  const auto load = [&](std::size_t i) { return load_once(reinterpret_cast<const uint4*>(split.aligned) + i); };
  const auto count_pack = [&](uint4 raw) {
    const Pack<K> pack = as_pack<K>(raw);
#pragma unroll
    for (unsigned j = 0; j < Pack<K>::size; ++j) count(pack.item[j]);
  };
  // Software pipelining: a round's packs are loaded before the previous round's are counted.
  uint4 some[at_once], next[at_once];
  const std::size_t round = at_once * step;
  std::size_t i = first;
  const auto is_whole = [&](std::size_t from) { return from + (at_once - 1) * step < split.packs; };
  const auto load_round = [&](uint4(&to)[at_once], std::size_t from) {
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) to[k] = load(from + k * step);
  };
  if (is_whole(i)) load_round(some, i);
  for (; is_whole(i); i += round) {
    if (is_whole(i + round)) load_round(next, i + round);
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) count_pack(some[k]);
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) some[k] = next[k];
  }
  for (; i < split.packs; i += step) count_pack(load(i));
  if (first < split.head) count(keys[first]);
  if (first < split.tail) count(keys[n - split.tail + first]);
  __syncthreads();
  for (unsigned c = t; c < counters; c += counts_block) {
    unsigned sum = 0;
#pragma unroll
    for (unsigned k = 0; k < copies; ++k) sum += words[c * copies + (k + t) % copies];
    if (sum) atomicAdd(&counts[c], Counter(sum));
  }
  if (!passes) return;
  if constexpr (Order::merges) {
    if (__syncthreads_or(any_merges) && t == 0) atomicAdd(&done[1], 1u);
  } else {
    __syncthreads();
  }
  if (!last_block_done(done, gridDim.x)) return;
  plan_passes(counts, Order::merges ? &done[1] : nullptr, digits.count(), n, rules, passes);
}

}  // namespace upsweep::ladders::sort
