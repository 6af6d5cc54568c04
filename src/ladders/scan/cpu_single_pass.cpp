// scan/single_pass: all cores, each taking the next block when free; a block's prefix comes from the one before it.
//
// Idea      chained scan: a core takes the next block, sums it, waits for the prefix that the previous block publishes,
//           publishes its own, and only then scans, from its L2. There is no join until the end, so a core that loses
//           its time slice delays the others by one block, not by a pass.
// Traffic   n read, n written.
// Order     the simd rung's in each block; totals left to right.
// Source    Yan, Long, Zhang, StreamScan: Fast Scan Algorithms for GPUs without Global Barrier Synchronization, 2013.
#include <algorithm>
#include <cstddef>

#include "ladders/reduce/cpu_simd.h"
#include "ladders/scan/binding.h"
#include "ladders/scan/cpu_in_order.h"
#include "ladders/scan/cpu_simd.h"

namespace upsweep::ladders::scan {

namespace {  // a rung of the same name may exist on the GPU

struct single_pass {
  static constexpr Story story{
      .idea = "blocks by ticket; each waits for the prefix of the one before it, then scans from L2",
      .prediction = "behind two_pass in cache, ahead of it from memory",
      .guarantees = "an order that depends on the vector width and the output's alignment",
      .limits = "any n; in place; params: threads",
      .source = "Yan, Long, Zhang, StreamScan, 2013"};

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    static const SpanScan scan = simd_scan(type_of<T>(), Op::operation);
    static const auto reduce = reduce::simd_reduction(type_of<T>(), Op::operation, reduce::From::caches);
    constexpr std::size_t block = block_bytes / sizeof(T);
    const How how{a.inclusive, stores_for(2 * a.n * sizeof(T))};
    const int threads = threads_of(a.tuning);
    T prefix = Op::template neutral<T>();
    in_order((a.n + block - 1) / block, threads, [&](std::size_t b, auto in_turn, auto take_next) {
      const std::size_t begin = b * block, count = std::min(block, a.n - begin);
      T total, carry;
      reduce(a.in + begin, count, &total);
      in_turn([&] {
        carry = prefix;
        prefix = a.op(carry, total);
      });
      How and_fetch = how;
      if (how.stores == Stores::around)  // from memory: prefetch this core's next block while writing
        if (const std::size_t after = take_next(); (after + 1) * block <= a.n)
          and_fetch.ahead = static_cast<std::ptrdiff_t>((after - b) * block_bytes);
      scan(a.in + begin, a.out + begin, count, &carry, and_fetch);
    });
    store_empty_prefix(a);
    return {};
  }
};

}  // namespace

extern const Rung cpu_single_pass_rung = make_rung<Binding, single_pass>("single_pass", Backend::cpu);

}  // namespace upsweep::ladders::scan
