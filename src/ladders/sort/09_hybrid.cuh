// sort/hybrid: one pass by the highest digit, then one block sorts each bucket in shared memory.
//
// On small inputs, a pass of lane_sweep mostly waits: for the launch, for a tile to be drawn, fetched and ranked, for
// the counts of other tiles, and for writes. A pass takes 7 to 12 us for 2^17 to 2^20 keys on an H200, and there are
// four. After a pass by the highest digit in which keys differ, buckets are independent: one block sorts each, in
// passes from the lowest digit up that never leave the multiprocessor. Digits in which a bucket's keys agree are
// skipped.
//
// If any bucket exceeds a block's capacity, the sort falls back to lane_sweep's passes. The last block of the counting
// kernel decides this on the device: the host launches both sets of kernels, and the unused ones exit immediately.
//
// Traffic   keys read once to count all digits, then keys and values read and written twice; the second time, values
//           are read in random order within a bucket. After a fallback, that of lane_sweep.
// Order     stable.
// Source    Stehle, Jacobsen, A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs, 2017.
#pragma once
#include "kernel/unit.h"
#include "ladders/sort/bucket_sort.cuh"
#include "ladders/sort/choose.h"

namespace upsweep::ladders::sort {

template <bool has_values, class K, bool is_float>
__global__ void __launch_bounds__(BucketTile<K, has_values>::block, 2) bucket_sort_kernel(Sweep<K, is_float> sweep) {
  using Tile = BucketTile<K, has_values>;
  auto& m = *dynamic_shared<Tile>();
  constexpr unsigned block = Tile::block;
  const unsigned t = threadIdx.x;
  m.of_warp[t / warp_size].clear();
  if (t < 2) m.set[t] = m.clear[t] = 0;
  allow_next_launch();
  wait_for_previous();
  // 1. Load the bucket's keys.
  if (t < 2) m.bounds[t] = sweep.passes->bucket_starts[blockIdx.x + t];
  if (t == 2) m.bounds[t] = sweep.passes->digit[0];
  if (is_float && t == 3) m.bounds[t] = sweep.passes->merges;
  __syncthreads();
  const unsigned begin = m.bounds[0], size = m.bounds[1] - begin, digits = m.bounds[2];
  if (size == 0) return;
  const K* const from = static_cast<const K*>(sweep.keys.buffer) + begin;
  K some[Tile::rows];
#pragma unroll
  for (unsigned k = 0; k < Tile::rows; ++k)
    if (const unsigned i = k * block + t; i < size) some[k] = from[i];
  // 2. Sort them. Code for merging numbers is compiled separately, as in SweepPass::with_input().
  bool merges = false;
  if constexpr (is_float) {
    merges = m.bounds[3] != 0;
    if (merges) sort_bucket<has_values>(m, sweep, sweep.order, some, size, digits);
  }
  if (!merges) sort_bucket<has_values>(m, sweep, KeyOrder<K>{}, some, size, digits);
  // 3. Write the output.
  K* const out = static_cast<K*>(sweep.keys.out) + begin;
  for (unsigned p = t; p < size; p += block) out[p] = sweep.order.key(m.keys[p]);
  if constexpr (has_values) {
    const Values values{sweep.values.buffer, sweep.values.out, sweep.value_bytes};
    for (unsigned p = t; p < size; p += block) values.move(begin + m.from[p], begin + p);
  }
}

struct hybrid {
  static constexpr Needs needs = hybrid_needs(2, false);  // wider keys and values need more
  static constexpr Story story{
      .idea = "one pass by the highest digit, then one block sorts each bucket in shared memory",
      .prediction =
          "23 us for 2^17 keys and 34 us for 2^20, 0.6 of lane_sweep's time: twice CUB; skewed digits as "
          "lane_sweep",
      .guarantees = "stable",
      .limits = "keys of 2 bytes or more, up to 1.5 million; gains only if no bucket is much larger than others",
      .source = "Stehle, Jacobsen, 2017"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest = hybrid_most;
  template <class T, class O>
  static constexpr bool supports = sizeof(T) > 1;  // with a single digit, buckets need no sort
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.n > largest) return {Code::unsupported, 0, "this rung takes up to 1.5 million keys"};
    if (!machine().meets(hybrid_needs(sizeof(T), a.values.bytes > 0)))
      return {Code::unsupported, 0, "a bucket of keys and values this wide does not fit in a block's shared memory"};
    return a.values.bytes ? start<true, OrderOf<T>>(a) : start<false, OrderOf<T>>(a);
  }

 private:
  template <bool has_values, class Order>
  static Status start(const KeyArgs<Order>& a) {
    using Key = typename Order::Key;
    using Tile = BucketTile<Key, has_values>;
    static_assert(largest <= digit_values * Tile::size, "with more keys, some bucket is too large for a block");
    constexpr BucketSort<Order> buckets{Tile::size, [](const KeyArgs<Order>& args, const SweepOf<Order>& sweep) {
                                          return launch(bucket_sort_kernel<has_values, Key, Order::merges>,
                                                        {.grid = digit_values,
                                                         .block = Tile::block,
                                                         .shared_bytes = sizeof(Tile),
                                                         .overlap = true,
                                                         .stream = args.stream},
                                                        sweep);
                                        }};
    if (!takes_tile_passes(a.n, sizeof(Key), a.values.bytes)) return ballot_passes(a, &buckets);
    return machine_of_unit().meets(lane_sweep_needs) ? lane_passes(a, &buckets) : match_passes(a, &buckets);
  }
};

}  // namespace upsweep::ladders::sort
