// select/single_pass: all cores, each drawing the next block when it is free; a block's output offset is known once the
// block before it has been counted.
//
// Idea      chained scan: a core draws the next block, counts, waits for the prefix of the block before it, publishes
//           its own, and only then selects, from its L2. Counting is short, so no core waits for long, and there is no
//           join before the end.
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
      .prediction = "ties two_pass in cache, reaches the read ceiling from memory",
      .limits = "any n; not partition_if (the offset of its rest is known last); params: threads",
      .source = "Yan, Long, Zhang, StreamScan, 2013"};

  template <class T, class O>
  static constexpr bool supports = !writes_rest<O>;

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const PartLoops& loops = loops_for<T, O>();
    const int threads = threads_of(a.tuning);
    // A core reads a block twice: a quarter of an L2. Small inputs are cut into one block per core, in whole rows.
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

extern const Rung cpu_single_pass_rung = make_rung<Binding, single_pass>("single_pass", Backend::cpu);

}  // namespace upsweep::ladders::select
