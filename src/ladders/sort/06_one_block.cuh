// sort/one_block: up to 2048 keys, merge-sorted by one block.
//
// A radix pass has a fixed cost, however few the keys: counters are cleared, summed and read. The cost of a merge is
// proportional to the number of keys. Each thread sorts four keys in registers. Then pairs of runs are merged, 4 keys
// with 4, 8 with 8, ...: each thread writes four keys of every merge, and a binary search along its diagonal finds
// where they start in the two runs.
//
// Traffic   keys and values read and written once; values read in random order.
// Order     stable: among equal keys, those of the left run come first.
// Source    Green, McColl, Bader, GPU Merge Path, 2012.
#pragma once
#include <bit>

#include "kernel/ptx.h"
#include "ladders/sort/moves.cuh"

namespace upsweep::ladders::sort {

inline constexpr unsigned keys_per_thread = 4;

template <bool has_index, class Order, class K = typename Order::Key>
__global__ void one_block_kernel(const K* keys, K* out, Values values, unsigned n, Order order,
                                 Ordered<K> compared,  // mask of the compared bits
                                 K last) {             // a number that sorts last
  using Key = Ordered<K>;
  constexpr unsigned each = keys_per_thread;
  const unsigned t = threadIdx.x, all = blockDim.x * each;
  Key* const runs = dynamic_shared<Key>();                                // [2][all]: double buffer between merges
  unsigned* const indices = reinterpret_cast<unsigned*>(runs + 2 * all);  // likewise
  const auto precedes = [=](Key a, Key b) { return (order.merged(a) & compared) < (order.merged(b) & compared); };
  allow_next_launch();
  wait_for_previous();
  // 1. Load and sort four keys; padding past the end sorts last.
  Key own[each];
  unsigned index[each], to[each];
#pragma unroll
  for (unsigned k = 0; k < each; ++k) {
    to[k] = index[k] = t * each + k;
    own[k] = index[k] < n ? Key(order.number(keys[index[k]])) : Key(last);
  }
#pragma unroll
  for (unsigned round = 0; round < each; ++round)
#pragma unroll
    for (unsigned k = round % 2; k + 1 < each; k += 2)
      if (precedes(own[k + 1], own[k])) {
        const Key key = own[k];
        own[k] = own[k + 1], own[k + 1] = key;
        const unsigned i = index[k];
        index[k] = index[k + 1], index[k + 1] = i;
      }
  // 2. Merge pairs of runs until one is left.
  unsigned array = 0;
  for (unsigned width = each; width < all; width *= 2, array ^= all) {
#pragma unroll
    for (unsigned k = 0; k < each; ++k) {
      runs[array + to[k]] = own[k];
      if (has_index) indices[array + to[k]] = index[k];
    }
    __syncthreads();
    const unsigned diagonal = t * each & (2 * width - 1), left = array + t * each - diagonal, right = left + width;
    // Merge-path search: the maximum number of left keys before the diagonal such that none of them comes after the
    // next right key.
    unsigned l = diagonal < width ? 0 : diagonal - width;
    const unsigned max_left = diagonal < width ? diagonal : width;
    for (unsigned step = width; step > 0; step /= 2)
      if (l + step <= max_left && !precedes(runs[right + diagonal - l - step], runs[left + l + step - 1])) l += step;
    unsigned r = diagonal - l;
    Key of_left = l < width ? runs[left + l] : Key(0), of_right = r < width ? runs[right + r] : Key(0);
#pragma unroll
    for (unsigned k = 0; k < each; ++k) {
      const bool from_left = r >= width || (l < width && !precedes(of_right, of_left));
      own[k] = from_left ? of_left : of_right;
      const unsigned from = from_left ? left + l++ : right + r++;
      if (has_index) index[k] = indices[from];
      const bool more = from_left ? l < width : r < width;
      const Key following = more ? runs[from + 1] : Key(0);
      (from_left ? of_left : of_right) = following;
    }
  }
  // 3. Write the output.
  if (out)
    for (unsigned k = 0; k < each; ++k)
      if (to[k] < n) out[to[k]] = order.key(static_cast<K>(own[k]));
  if constexpr (has_index) gather_values(values, n, index, to, [] { __syncthreads(); });
}

struct one_block {
  static constexpr Needs needs{{}, 49'152};
  static constexpr Story story{
      .idea = "up to 2048 keys: merge sort by one block, in one launch",
      .prediction = "4 us for 2^10 keys: twice CUB's one block, which takes one pass per few bits",
      .guarantees = "stable",
      .limits = "up to 2048 keys; block size fixed",
      .source = "Green, McColl, Bader, GPU Merge Path, 2012"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest = 1 << 11;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.n > largest) return {Code::unsupported, 0, "this rung takes up to 2048 keys"};
    if (a.n == 0) return {};
    return a.values.bytes ? start<true>(a) : start<false>(a);
  }

 private:
  template <bool has_index, class T, class O>
  static Status start(const Args<T, O>& a) {
    using Key = typename Args<T, O>::Key;
    const unsigned threads = std::bit_ceil(static_cast<unsigned>(ceil_div(a.n, keys_per_thread)));
    const unsigned block = threads < warp_size ? warp_size : threads;
    const std::size_t bytes = sizeof(Ordered<Key>) + (has_index ? sizeof(unsigned) : 0);
    return launch(
        one_block_kernel<has_index, OrderOf<T>>,
        {.block = block, .shared_bytes = 2 * block * keys_per_thread * bytes, .overlap = true, .stream = a.stream},
        a.keys, a.out, a.values, static_cast<unsigned>(a.n), a.order, static_cast<Ordered<Key>>(a.compared()),
        a.order.last(a.first_bit + a.bits));
  }
};

}  // namespace upsweep::ladders::sort
