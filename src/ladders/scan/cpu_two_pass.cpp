// scan/two_pass: all cores sum blocks first, then scan each block from its prefix.
//
// Idea      reduce, then scan: pass 1 sums each core's block, pass 2 scans it. Two savings: the first block's prefix is
//           known, so its core scans it in pass 1; and the last block's total is not needed, so there is one more block
//           than cores, which the first core scans in pass 2. A sum takes about half the time of a scan, so the first
//           block is half as long as the others.
// Traffic   n read, n written: blocks fit in L2, and each core processes the same block in both passes.
// Order     the simd rung's in each block; totals left to right.
// Source    Blelloch, Prefix Sums and Their Applications, 1990; the uneven blocks are ours.
#include <algorithm>
#include <utility>

#include "cpu/parallel.h"
#include "ladders/scan/binding.h"
#include "ladders/scan/cpu_wider.h"

namespace upsweep::ladders::scan {

namespace {  // a rung of the same name may exist on the GPU

struct two_pass {
  static constexpr Story story{
      .idea = "sum blocks, then scan them; the first is scanned in pass 1, the last is never summed",
      .prediction = "1.67 times as fast as simd on two cores in cache; the copy ceiling from memory",
      .guarantees = "the order depends on the number of cores, the vector width and the alignment",
      .limits = "any n; in place; params: threads",
      .source = "Blelloch, Prefix Sums and Their Applications, 1990"};
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;

  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    static const SpanScan scan = scan_to<T, Op, Out>();
    const How how{a.inclusive, stores_for(a.n * (sizeof(T) + sizeof(Out)))};
    Computed<Out> carry = a.initial.value;
    const int threads = threads_of(a.tuning);
    if (one_core(a.n * sizeof(Out)) || threads <= 1)
      scan(a.in, a.out, a.n, &carry, how);
    else
      by_chunks(a.in, a.out, a.n, carry, a.op, threads, how);
    store_empty_prefix(a);
    return {};
  }

 private:
  template <class T, class Op, class Out>
  [[gnu::noinline]] static void by_chunks(const T* in, Out* out, std::size_t n, Computed<Out> carry, Op op, int threads,
                                          How how) {
    static const SpanScan scan = scan_to<T, Op, Out>();
    static const auto reduce = reduce::reduction_to<T, Op, Computed<Out>>(reduce::From::caches);
    constexpr std::size_t line = 64 / sizeof(Out);
    // Rounds of equal size, each of `threads` whole blocks and half a block.
    const std::size_t halves = 2 * static_cast<std::size_t>(threads) + 1, most = block_bytes / sizeof(Out) * halves / 2;
    const std::size_t rounds = (n + most - 1) / most;
    const std::size_t block = (2 * n / (rounds * halves) + line) / line * line;
    struct alignas(64) Prefix {  // one cache line each: no false sharing between cores
      Computed<Out> value;
    };
    Prefix prefix[Parts::most + 1];
    for (std::size_t begin = 0; begin < n;) {
      // Returns the end of block i. Block 0 ends at begin + block / 2; each later block has `block` elements.
      const auto bound = [&](int i) {
        return std::min(n, i < 0 ? begin : begin + block / 2 + static_cast<std::size_t>(i) * block);
      };
      const auto scan_block = [&](int i) {
        const std::size_t first = bound(i - 1);
        scan(in + first, out + first, bound(i) - first, &prefix[i].value, how);
      };
      prefix[0].value = carry;
      parallel(threads, threads, [&](int i) {
        if (i == 0)
          scan_block(0);
        else
          reduce(in + bound(i - 1), bound(i) - bound(i - 1), &prefix[i].value);
      });
      Computed<Out> total = prefix[0].value;
      for (int i = 1; i < threads; ++i) total = op(total, std::exchange(prefix[i].value, total));
      prefix[threads].value = total;
      parallel(threads, threads, [&](int i) { scan_block(i == 0 ? threads : i); });
      carry = prefix[threads].value;
      begin = bound(threads);
    }
  }
};

}  // namespace

extern const Rung cpu_two_pass_rung = make_rung<Binding, two_pass>("two_pass", Backend::cpu);

}  // namespace upsweep::ladders::scan
