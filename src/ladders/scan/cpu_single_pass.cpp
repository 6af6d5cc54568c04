// scan/single_pass: cores claim blocks in order, and each block gets its prefix from the previous one.
//
// Idea      chained scan: a core takes the next block, sums it, waits for the prefix that the previous block publishes,
//           publishes its own, and only then scans the block, from L2. There is no join until the end, so a descheduled
//           core delays the others by one block, not by a pass.
// Traffic   n read, n written.
// Order     the simd rung's in each block; totals left to right.
// Source    Yan, Long, Zhang, StreamScan: Fast Scan Algorithms for GPUs without Global Barrier Synchronization, 2013.
#include <algorithm>
#include <cstddef>

#include "ladders/scan/binding.h"
#include "ladders/scan/cpu_in_order.h"
#include "ladders/scan/cpu_wider.h"

namespace upsweep::ladders::scan {

namespace {  // a rung of the same name may exist on the GPU

struct single_pass {
  static constexpr Story story{
      .idea = "blocks by ticket; each waits for the previous block's prefix, then scans from L2",
      .prediction = "slower than two_pass in cache, faster from memory",
      .guarantees = "the order depends on the vector width and the output's alignment",
      .limits = "any n; in place; params: threads",
      .source = "Yan, Long, Zhang, StreamScan, 2013"};
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;

  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    static const SpanScan scan = scan_to<T, Op, Out>();
    static const auto reduce = reduce::reduction_to<T, Op, Computed<Out>>(reduce::From::caches);
    constexpr std::size_t block = block_bytes / sizeof(Out);
    const How how{a.inclusive, stores_for(a.n * (sizeof(T) + sizeof(Out)))};
    const int threads = threads_of(a.tuning);
    Computed<Out> prefix = a.initial.value;
    in_order((a.n + block - 1) / block, threads, [&](std::size_t b, auto in_turn, auto take_next) {
      const std::size_t begin = b * block, count = std::min(block, a.n - begin);
      Computed<Out> total, carry;
      reduce(a.in + begin, count, &total);
      in_turn([&] {
        carry = prefix;
        prefix = a.op(carry, total);
      });
      How and_fetch = how;
      if (how.stores == Stores::around)  // from memory: prefetch this core's next block while writing
        if (const std::size_t after = take_next(); (after + 1) * block <= a.n)
          and_fetch.ahead = static_cast<std::ptrdiff_t>((after - b) * block * sizeof(T));
      scan(a.in + begin, a.out + begin, count, &carry, and_fetch);
    });
    store_empty_prefix(a);
    return {};
  }
};

}  // namespace

extern const Rung cpu_single_pass_rung = make_rung<Binding, single_pass>("single_pass", Backend::cpu);

}  // namespace upsweep::ladders::scan
