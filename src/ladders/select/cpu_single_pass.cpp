// select/single_pass: all cores, each taking the next block as it is free; where a block's elements go is known when
// the one before it has been counted.
//
// Idea      chained scan: a core takes the next block, counts, waits for what the block before it came to, leaves the
//           same of its own, and only then selects, from its L2. Counting is short, so nobody waits for long; and
//           nothing is joined until the end.
// Traffic   n read, what is selected written; values of large inputs around the caches.
// Order     the input's.
// Source    Yan, Long, Zhang, StreamScan: Fast Scan Algorithms for GPUs without Global Barrier Synchronization, 2013.
#include <algorithm>
#include <utility>

#include "ladders/scan/cpu_in_order.h"
#include "ladders/select/contract.h"
#include "ladders/select/cpu_simd.h"

namespace upsweep::ladders::select {

namespace {  // a rung of the same name may exist on the GPU

struct single_pass {
  static constexpr Story story{
      .idea = "blocks by ticket: count, take over from the block before, select from L2",
      .prediction = "ties two_pass in cache, the read ceiling from memory",
      .limits = "any n, but for partition_if: where the rest begins is known last; params: threads",
      .source = "Yan, Long, Zhang, StreamScan, 2013"};

  template <class T, class O>
  static constexpr bool supports = !writes_rest<O>;

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const PartLoops& loops = loops_for<T, O>();
    const int threads = threads_of(a.tuning);
    // Blocks that a core looks at twice: a quarter of an L2. Of little input, one for every core, in whole rows.
    constexpr std::size_t largest = (256 << 10) / sizeof(T), rows = 64;
    const std::size_t share = (a.in.n / static_cast<std::size_t>(threads) / rows + 1) * rows;
    const std::size_t block = std::min(largest, share);
    const Stores stores = stores_for(2 * a.in.n * sizeof(T));
    Found all;
    scan::in_order((a.in.n + block - 1) / block, threads, [&](std::size_t b, auto in_turn, auto) {
      const std::size_t begin = b * block, end = std::min(begin + block, a.in.n);
      const Found found = loops.count(&a, begin, end);
      Found before;
      in_turn([&] { before = std::exchange(all, all + found); });
      loops.select(&a, begin, end, before, 0, stores);
    });
    if constexpr (writes_lengths<O>) finish_runs(a, all);
    *a.out.count = all.count;
    return {};
  }
};

}  // namespace

extern const Rung cpu_single_pass_rung = make_rung<single_pass>("single_pass", Backend::cpu);

}  // namespace upsweep::ladders::select
