// select/single_pass: cores claim blocks in order; a block's output offset is known once the previous block is counted.
//
// Idea      chained scan: a core claims the next block, counts its selected elements, waits for the previous block's
//           prefix, publishes its own, and only then selects, from L2. Counting is fast, so no core waits long, and
//           there is no join until the end.
// Traffic   n read, the selected elements written; values of large inputs with non-temporal stores.
// Order     the input's.
// Source    Yan, Long, Zhang, StreamScan: Fast Scan Algorithms for GPUs without Global Barrier Synchronization, 2013.
#include <algorithm>
#include <utility>

#include "ladders/scan/cpu_in_order.h"
#include "ladders/select/binding.h"
#include "ladders/select/cpu_simd.h"

namespace upsweep::ladders::select {

namespace {  // a rung of the same name may exist on the GPU

struct single_pass {
  static constexpr Story story{
      .idea = "blocks by ticket: count, add to the previous prefix, select from L2",
      .prediction = "ties with two_pass in cache; reaches the read ceiling from memory",
      .limits = "any n; not partition_if (the offset of its rest is known last); params: threads",
      .source = "Yan, Long, Zhang, StreamScan, 2013"};

  template <class T, class O>
  static constexpr bool supports = !writes_rest<O>;

  static Status run(const Call& c) {
    const PartLoops loops = loops_for(c);
    const int threads = threads_of(c.tuning);
    const std::size_t n = c.n(), element = size_of(c.type());
    // A core reads a block twice, so a block is 256 KiB, a quarter of a Zen 4 core's L2. Small inputs are split into
    // one block per core, in whole rows.
    const std::size_t largest = (256 << 10) / element, rows = 64;
    const std::size_t share = (n / static_cast<std::size_t>(threads) / rows + 1) * rows;
    const std::size_t block = std::min(largest, share);
    const Stores stores = stores_for(2 * n * element);
    Found all;
    scan::in_order((n + block - 1) / block, threads, [&](std::size_t b, auto in_turn, auto) {
      const std::size_t begin = b * block, end = std::min(begin + block, n);
      const Found found = loops.count(c, begin, end);
      Found before;
      in_turn([&] { before = std::exchange(all, all + found); });
      loops.select(c, begin, end, before, 0, stores);
    });
    finish(c, all);
    return {};
  }
};

}  // namespace

extern const Rung cpu_single_pass_rung = make_rung<Binding, single_pass>("single_pass", Backend::cpu);

}  // namespace upsweep::ladders::select
