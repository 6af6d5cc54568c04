// scan/single_pass: all cores, each taking the next block as it is free; a block's prefix comes from the one before it.
//
// Idea      chained scan: a core takes the next block by a ticket, sums it, waits for the prefix that the block before
//           it publishes, publishes its own, and only then scans, from its L2. Nothing is joined until the end, so a
//           core that loses its time slice holds up the others for one block and not for a pass.
// Traffic   n read, n written.
// Order     the simd rung's in each block; totals left to right.
// Source    Yan, Long, Zhang, StreamScan, 2013; Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled
//           Look-back, 2016.
#include <algorithm>
#include <atomic>
#include <thread>

#include "base/parallel.h"
#include "reduce/cpu_simd.h"
#include "scan/contract.h"
#include "scan/cpu_simd.h"

namespace upsweep::ladders::scan {

namespace {  // a rung of the same name may exist on the GPU

constexpr std::size_t block_bytes = 128 << 10;

struct single_pass {
  static constexpr Story story{
      .idea = "blocks by ticket; each waits for the prefix of the one before it, then scans from L2",
      .prediction = "behind two_pass in cache, ahead of it from memory",
      .guarantees = "an order that depends on the vector width and the alignment",
      .limits = "any n; in place; params: threads",
      .source = "Yan, Long, Zhang, StreamScan, 2013"};

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    static const SpanScan scan = simd_scan(type_of<T>(), Op::op);
    static const auto reduce = reduce::simd_reduction(type_of<T>(), Op::op, reduce::From::caches);
    constexpr std::size_t block = block_bytes / sizeof(T);
    const std::size_t blocks = (a.n + block - 1) / block;
    const How how{a.inclusive, stores_for(a.n * sizeof(T))};
    const int threads = static_cast<int>(a.params.get("threads", hardware_threads()));
    alignas(64) std::atomic<std::size_t> ticket{0};
    alignas(64) std::atomic<std::size_t> ready{0};  // blocks [0, ready) have published; prefix is that of block `ready`
    T prefix = Op::template neutral<T>();
    upsweep::parallel(threads, threads, [&](int) {
      for (std::size_t b; (b = ticket.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
        const T* in = a.in + b * block;
        const std::size_t count = std::min(block, a.n - b * block);
        T total, carry;
        reduce(in, count, &total);
        for (unsigned spins = 0; ready.load(std::memory_order_acquire) != b; ++spins)
          if (spins > 1000) std::this_thread::yield();
        carry = prefix;
        prefix = a.op(carry, total);
        ready.store(b + 1, std::memory_order_release);
        scan(in, a.out + b * block, count, &carry, how);
      }
    });
    return {};
  }
};

}  // namespace

extern const Rung cpu_single_pass_rung = make_rung<single_pass>("single_pass", Backend::cpu);

}  // namespace upsweep::ladders::scan
