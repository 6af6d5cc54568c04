// Sorts a bucket with one block, in shared memory.
#pragma once
#include "kernel/block.h"
#include "kernel/multisplit/match_ranks.h"
#include "ladders/sort/sweep.cuh"

namespace upsweep::ladders::sort {

// Shared memory for a bucket of up to `size` keys.
template <class K, bool has_values>
struct BucketTile {
  // Sized for two blocks per multiprocessor. 2^20 uniform keys have buckets of 4096 keys.
  static constexpr unsigned warps = 16, block = warps * warp_size, rows = 12, size = block * rows;
  static_assert(size <= 1 << 16 && block >= digit_values);
  multisplit::WarpMatch of_warp[warps];
  K keys[size];
  std::uint16_t from[has_values ? size : 2];  // position of each key in the unsorted bucket
  unsigned warp_totals[warp_size], bounds[4];
  unsigned set[2], clear[2];  // bits that are set, or clear, in any key of the bucket
};

// Block-wide: writes the numbers of a bucket's keys, which are in `some`, to m.keys, and sorts them there. Padding past
// the end sorts last. `order` defines which numbers are equal.
template <bool has_values, class Order, class K, bool is_float, unsigned max_keys>
__device__ __forceinline__ void sort_bucket(BucketTile<K, has_values>& m, const Sweep<K, is_float>& sweep,
                                            const Order& order, const K (&some)[max_keys], unsigned size,
                                            unsigned digits) {
  using Tile = BucketTile<K, has_values>;
  constexpr unsigned block = Tile::block;
  const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size;
  multisplit::WarpMatch& own = m.of_warp[warp];
  // Rows per warp, and the number of warps with rows.
  const unsigned max_rows = (size - 1) / block + 1, warps = (size - 1) / (max_rows * warp_size) + 1;
  const unsigned rows = warp < warps ? max_rows : 0;
  K set = 0, clear = 0;
#pragma unroll
  for (unsigned k = 0; k < Tile::rows; ++k) {
    const unsigned i = k * block + t;
    if (k >= max_rows) break;
    K number = K(~K(0));
    if (i < size) {
      number = is_float ? some[k] : sweep.order.number(some[k]);
      const K merged = order.merged(number);
      set = static_cast<K>(set | merged), clear = static_cast<K>(clear | K(~merged));
    }
    m.keys[i] = number;
    if (has_values) m.from[i] = static_cast<std::uint16_t>(i);
  }
#pragma unroll
  for (unsigned w = 0; w < (sizeof(K) > 4 ? 2 : 1); ++w) {
    const unsigned any_set = warp_reduce(static_cast<unsigned>(std::uint64_t(set) >> 32 * w), Or{});
    const unsigned any_clear = warp_reduce(static_cast<unsigned>(std::uint64_t(clear) >> 32 * w), Or{});
    if (lane == 0) {
      atomicOr(&m.set[w], any_set);
      atomicOr(&m.clear[w], any_clear);
    }
  }
  __syncthreads();
  const std::uint64_t differing = std::uint64_t(m.set[1] & m.clear[1]) << 32 | (m.set[0] & m.clear[0]);
  // One pass per digit below the one that split the buckets.
  for (unsigned d = 0; d < digits; ++d) {
    const unsigned first_bit = sweep.digits.first_bit_of(d), mask = sweep.digits.values(d) - 1;
    if ((differing >> first_bit & mask) == 0) continue;
    const auto digit = [=](K number) { return static_cast<unsigned>(order.merged(number) >> first_bit) & mask; };
    own.clear_counts();
    K keys[Tile::rows];
    unsigned ranks[Tile::rows];
    std::uint16_t index[Tile::rows];
    const unsigned first = warp * max_rows * warp_size + lane;
#pragma unroll
    for (unsigned k = 0; k < Tile::rows; ++k) {
      if (k >= rows) break;
      keys[k] = m.keys[first + k * warp_size];
      // Padding stays past the end. With merged numbers, no number sorts last in every digit, so each pass sets the
      // padding anew.
      if (Order::merges && first + k * warp_size >= size) keys[k] = order.last(sweep.digits.end_bit_of(d));
      if (has_values) index[k] = m.from[first + k * warp_size];
    }
    own.template rank<Tile::rows>(
        rows, [&](unsigned k) { return digit(keys[k]); }, [&](unsigned k, unsigned rank) { ranks[k] = rank; });
    __syncthreads();
    unsigned sum = 0, counts[Tile::warps], total;
    if (t < digit_values) {
#pragma unroll
      for (unsigned w = 0; w < Tile::warps; ++w) sum += counts[w] = w < warps ? m.of_warp[w].counts[t] : 0;
    }
    unsigned start = block_scan(sum, Sum{}, m.warp_totals, total);
    if (t < digit_values) {
#pragma unroll
      for (unsigned w = 0; w < Tile::warps; ++w) {
        if (w >= warps) break;
        m.of_warp[w].counts[t] = start;
        start += counts[w];
      }
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < Tile::rows; ++k) {
      if (k >= rows) break;
      const unsigned position = own.counts[digit(keys[k])] + ranks[k];
      m.keys[position] = keys[k];
      if (has_values) m.from[position] = index[k];
    }
    __syncthreads();
  }
}

}  // namespace upsweep::ladders::sort
