// Counts each possible key of 8 or 16 bits in one read of the keys.
//
// Keys of 8 bits are counted as one digit. For keys of 16 bits, each block has a table of 2^16 counters of 16 bits in
// shared memory; a counter that reaches 2^15 moves that amount to global memory.
#pragma once
#include "kernel/vector.h"
#include "kernel/warp.h"
#include "ladders/sort/digit_counts.cuh"

namespace upsweep::ladders::sort {

template <class K>
inline constexpr unsigned possible_keys = 1u << 8 * sizeof(K);

// Between iterations, every counter is below half_full. In an iteration a block adds at most 8192, one pack per thread,
// so no counter reaches half_full twice, or overflows into its neighbour.
inline constexpr unsigned half_full = 0x8000;
static_assert(counts_block * Pack<std::uint16_t>::size < half_full);

static __global__ void __launch_bounds__(counts_block)
    key16_counts_kernel(const std::uint16_t* keys, std::size_t n, KeyOrder<std::uint16_t> order,
                        Counter* counts) {  // [2^16], zero
  constexpr unsigned words_count = possible_keys<std::uint16_t> / 2;
  unsigned* const words = dynamic_shared<unsigned>();  // [2^16 / 2], two counters each
  const unsigned t = threadIdx.x;
  for (unsigned w = t; w < words_count; w += counts_block) words[w] = 0;
  allow_next_launch();
  __syncthreads();
  const auto add = [&](std::uint16_t key, unsigned times) {
    const unsigned value = order(key), shift = value % 2 * 16;
    const unsigned before = atomicAdd(&words[value / 2], times << shift) >> shift & 0xffff;
    if (before < half_full && before + times >= half_full) {
      atomicSub(&words[value / 2], half_full << shift);
      atomicAdd(&counts[value], Counter(half_full));
    }
  };
  const PackSplit<std::uint16_t> split(keys, n);
  const std::size_t step = std::size_t(gridDim.x) * counts_block;
  for (std::size_t from = std::size_t(blockIdx.x) * counts_block; from < split.packs; from += step) {
    const bool has = from + t < split.packs;
    const uint4 raw = has ? load_once(reinterpret_cast<const uint4*>(split.aligned) + from + t) : uint4{};
    // If all keys of a warp are equal, one lane counts them: 256 additions to one counter would be serialised.
    const unsigned two = shuffle(raw.x, 0);
    const bool same =
        has && two >> 16 == (two & 0xffff) && raw.x == two && raw.y == two && raw.z == two && raw.w == two;
    if (__all_sync(all_lanes, same)) {
      if (t % warp_size == 0) add(static_cast<std::uint16_t>(two), warp_size * Pack<std::uint16_t>::size);
    } else if (has) {
      const Pack<std::uint16_t> pack = as_pack<std::uint16_t>(raw);
#pragma unroll
      for (unsigned j = 0; j < Pack<std::uint16_t>::size; ++j) add(pack.item[j], 1);
    }
    __syncthreads();
  }
  if (blockIdx.x == 0 && t < split.head) add(keys[t], 1);
  if (blockIdx.x == 0 && t < split.tail) add(keys[n - split.tail + t], 1);
  __syncthreads();
  for (unsigned w = t; w < words_count; w += counts_block) {
    if (const unsigned low = words[w] & 0xffff) atomicAdd(&counts[2 * w], Counter(low));
    if (const unsigned high = words[w] >> 16) atomicAdd(&counts[2 * w + 1], Counter(high));
  }
}

// Launches the counting kernel. Counters are indexed by the keys' numbers.
template <class T, class O>
Status count_keys(const Args<T, O>& a, Counter* counts) {  // [possible_keys], zero
  using Key = typename Args<T, O>::Key;
  Shape shape{.grid = a.tuning.grid_or(persistent_grid(ceil_div(a.n, counts_block * Pack<Key>::size))),
              .block = counts_block,
              .stream = a.stream};
  if constexpr (sizeof(Key) == 2) {
    shape.shared_bytes = possible_keys<Key> * sizeof(std::uint16_t);
    return launch(key16_counts_kernel, shape, a.keys, a.n, a.order, counts);
  } else {
    shape.shared_bytes = counts_bytes(1, copies<1>);
    return launch(digit_counts_kernel<1, copies<1>, KeyOrder<Key>>, shape, a.keys, a.n, a.order, Digits{0, 8},
                  PassRules{}, counts, nullptr, nullptr, nullptr, std::size_t(0));
  }
}

}  // namespace upsweep::ladders::sort
