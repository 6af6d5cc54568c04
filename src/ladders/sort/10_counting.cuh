// sort/counting: keys of 8 and 16 bits are counted and regenerated, not moved.
//
// Keys that compare equal are identical if all bits are compared and there are no values. So the counts of all possible
// keys determine the output: one read and one write, whereas a radix sort of 16 bits takes two of each and a read to
// count. A scan of the counts gives each key's start. To write, a block marks these starts in its part of the output,
// and a running maximum carries each key to the right.
//
// Traffic   keys read once and written once; at most 8 bytes per possible key and block.
// Order     equal keys are identical.
// Source    Seward, Information Sorting in the Application of Electronic Digital Computers, 1954.
#pragma once
#include "kernel/block.h"
#include "kernel/search.h"
#include "ladders/sort/choose.h"
#include "ladders/sort/key_counts.cuh"

namespace upsweep::ladders::sort {

// Threads per block. Each writes the start of one possible key. The block first adds up the counts of all lower keys:
// at most 512 KB, in L2, which takes less time than another launch for partial sums.
template <class K>
inline constexpr unsigned starts_block = possible_keys<K> < 1024 ? possible_keys<K> : 1024;

template <class K>
__global__ void __launch_bounds__(starts_block<K>)
    starts_kernel(const Counter* counts, std::uint64_t* starts) {  // [possible_keys<K>]
  __shared__ Counter warp_totals[2][warp_size];
  const unsigned t = threadIdx.x, first = blockIdx.x * starts_block<K>;
  allow_next_launch();
  wait_for_previous();
  Counter sum = 0, before, total;
#pragma unroll 8
  for (unsigned key = t; key < first; key += starts_block<K>) sum += counts[key];
  block_scan(sum, Sum{}, warp_totals[0], before);
  const Counter within = block_scan(counts[first + t], Sum{}, warp_totals[1], total);
  starts[first + t] = before + within;
}

// A block fills eight consecutive parts of 8 KB, so that it searches the starts once per 64 KB.
inline constexpr unsigned fill_block = 512, parts_per_block = 8;
template <class K>
__global__ void __launch_bounds__(fill_block)
    fill_kernel(K* out, std::size_t n, KeyOrder<K> order, const std::uint64_t* starts,  // [possible_keys<K>]
                Counter* counts) {                                                      // likewise; left zero
  constexpr unsigned each = Pack<K>::size, part = fill_block * each;
  __shared__ uint4 packs[part / 8];
  std::uint16_t* const key_at = reinterpret_cast<std::uint16_t*>(packs);  // [part]; a key at its start, 0 elsewhere
  __shared__ unsigned warp_keys[warp_size], border[parts_per_block + 1];
  const unsigned t = threadIdx.x, warp = t / warp_size;
  const std::size_t block_begin = std::size_t(blockIdx.x) * parts_per_block * part;
  allow_next_launch();
  for (unsigned k = blockIdx.x * fill_block + t; k < possible_keys<K>; k += gridDim.x * fill_block) counts[k] = 0;
  // 1. Find the number of possible keys that start before each part boundary.
  if (warp <= parts_per_block) {
    const std::size_t offset = block_begin + std::size_t(warp) * part;
    const unsigned below = warp_count_below(starts, possible_keys<K>, offset < n ? offset : n);
    if (t % warp_size == 0) border[warp] = below;
  }
  for (unsigned p = 0; p < parts_per_block; ++p) {
    const std::size_t begin = block_begin + std::size_t(p) * part, end = n - begin < part ? n : begin + part;
    if (begin >= n) break;
    for (unsigned i = t; i < part / 8; i += fill_block) packs[i] = uint4{0, 0, 0, 0};
    __syncthreads();
    // 2. Mark keys at their starts. A key that does not occur shares its start with the next one, and is not marked.
    // The last key that starts before this part is marked at the part's first element if it extends into the part.
    const unsigned first = border[p] > 0 ? border[p] - 1 : 0;
    for (unsigned key = first + t; key < border[p + 1]; key += fill_block) {
      const std::uint64_t start = starts[key], next = key + 1 < possible_keys<K> ? starts[key + 1] : n;
      if (start < next && next > begin) key_at[start < begin ? 0 : start - begin] = static_cast<std::uint16_t>(key);
    }
    __syncthreads();
    // 3. Carry keys to the right: a running maximum.
    unsigned keys[each], largest = 0;
#pragma unroll
    for (unsigned k = 0; k < each; k += 8) {
      const auto eight = as_pack<std::uint16_t>(packs[(t * each + k) / 8]);
#pragma unroll
      for (unsigned j = 0; j < 8; ++j) keys[k + j] = largest = largest < eight.item[j] ? eight.item[j] : largest;
    }
    unsigned total;
    // The scan's barrier follows all reads of `packs`, which the next part clears.
    const unsigned before = block_scan(largest, Max{}, warp_keys, total);
    Pack<K> pack;
#pragma unroll
    for (unsigned k = 0; k < each; ++k) pack.item[k] = order.key(static_cast<K>(keys[k] < before ? before : keys[k]));
    const std::size_t at = begin + t * each;
    if (at + each <= end && reinterpret_cast<std::uintptr_t>(out) % 16 == 0)
      store_pack(out + at, pack);
    else
      for (unsigned k = 0; k < each && at + k < end; ++k) out[at + k] = pack.item[k];
  }
}

struct counting {
  static constexpr Needs needs = counting_needs(1);  // keys of 16 bits need more
  static constexpr Story story{
      .idea = "keys of 8 and 16 bits are counted and regenerated, not moved",
      .prediction = "two bytes per u8 key, four per u16 key: at half the copy ceiling or more, 3 times CUB",
      .guarantees = "stable",
      .limits = "integers of 8 and 16 bits compared in all bits, without values; any n",
      .source = "Seward, 1954"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static constexpr bool supports = std::is_integral_v<T> && sizeof(T) <= 2;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.values.bytes || a.bits < 8 * sizeof(T))
      return {Code::unsupported, 0, "this rung sorts only by all bits, and without values"};
    if (!machine().meets(counting_needs(sizeof(T))))
      return {Code::unsupported, 0, "the counters of keys this wide do not fit in a block's shared memory"};
    return a.n ? count_and_fill(a) : Status{};
  }

 private:
  template <class T, class O>
  static Status count_and_fill(const Args<T, O>& a) {
    using Key = typename Args<T, O>::Key;
    constexpr unsigned possible = possible_keys<Key>;
    auto* const counts =
        reinterpret_cast<Counter*>(a.workspace->counters(possible * sizeof(Counter) / sizeof(unsigned)));
    Scratch scratch(*a.workspace);
    auto* const starts = scratch.take<std::uint64_t>(possible);
    if (!counts || !scratch) return no_memory;
    if (Status s = count_keys(a, counts); !s) return s;
    const Shape ranges{
        .grid = possible / starts_block<Key>, .block = starts_block<Key>, .overlap = true, .stream = a.stream};
    if (Status s = launch(starts_kernel<Key>, ranges, counts, starts); !s) return s;
    const Shape parts{.grid = static_cast<unsigned>(ceil_div(a.n, parts_per_block * fill_block * Pack<Key>::size)),
                      .block = fill_block,
                      .stream = a.stream};
    return launch(fill_kernel<Key>, parts, a.out, a.n, a.order, starts, counts);
  }
};

}  // namespace upsweep::ladders::sort
