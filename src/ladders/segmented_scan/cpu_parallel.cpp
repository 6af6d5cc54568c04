// segmented_scan/parallel: all cores, blocks by ticket; scan's SIMD loop for spans without a head.
//
// Idea      chained scan, like scan/single_pass: a core claims the next block, sums it, waits for the previous block's
//           prefix, publishes the block's prefix, and only then scans the block, from L2. If a segment begins in the
//           block, only the part from the last head on is summed. Heads are read in windows of 64 bits: spans without a
//           head go to scan's SIMD loop, the other windows are scanned element by element.
// Traffic   in and heads read, out written.
// Order     that of scan/simd in spans without a head, left to right elsewhere.
// Source    Yan, Long, Zhang, StreamScan, 2013; the windows are ours.
#include <algorithm>
#include <bit>

#include "cpu/parallel.h"
#include "ladders/scan/cpu_in_order.h"
#include "ladders/scan/cpu_wider.h"
#include "ladders/segmented_scan/binding.h"
#include "ladders/segmented_scan/cpu_heads.h"
#include "ladders/segmented_scan/run.h"

namespace upsweep::ladders::segmented_scan {

namespace {  // a rung of the same name may exist on the GPU

// Elements per block: half of an L2, as in scan, but here including heads of up to 4 bytes each.
constexpr std::size_t block_elements = 32 << 10;

struct parallel {
  static constexpr Story story{
      .idea = "blocks by ticket; SIMD for spans without a head; a block with a head first sums only its end",
      .prediction = "scan/single_pass's speed if segments are long; serial's times the cores if they are short",
      .guarantees = "the order depends on the vector width and the output's alignment",
      .limits = "any n; in place; params: threads",
      .source = "Yan, Long, Zhang, StreamScan, 2013"};
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;

  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    const std::size_t blocks = (a.n + block_elements - 1) / block_elements;
    const int threads = blocks == 1 ? 1 : threads_of(a.tuning);
    Out prefix = a.initial.value;
    scan::in_order(blocks, threads, [&](std::size_t b, auto in_turn, auto) {
      const std::size_t begin = b * block_elements, end = std::min(begin + block_elements, a.n);
      const Run<Out> total = join(a, begin, end);
      Out carry;
      in_turn([&] {
        carry = prefix;
        prefix = a.op(total.head ? a.initial.value : carry, total.value);
      });
      scan_block(a, begin, end, carry);
    });
    return {};
  }

 private:
  template <class T, class Op, class Out>
  static Run<Out> join(const Args<T, Op, Out>& a, std::size_t begin, std::size_t end) {
    static const auto reduce = reduce::reduction_to<T, Op, Out>(reduce::From::caches);
    std::size_t from = begin;
    bool head = false;
    HeadWindows heads(a.heads, begin, end);
    for (std::size_t i = begin; i < end; i += HeadWindows::width)
      if (const std::uint64_t bits = heads.next()) {
        from = i + static_cast<std::size_t>(std::bit_width(bits) - 1);
        head = true;
      }
    Out value;
    reduce(a.in + from, end - from, &value);
    return {value, head};
  }

  template <class T, class Op, class Out>
  static void scan_block(const Args<T, Op, Out>& a, std::size_t begin, std::size_t end, Out carry) {
    static const scan::SpanScan scan_span = scan::scan_to<T, Op, Out>();
    HeadWindows heads(a.heads, begin, end);
    std::size_t span = begin;  // [span, i) has no head
    for (std::size_t i = begin; i < end;) {
      std::uint64_t bits = heads.next();
      const std::size_t until = std::min(i + HeadWindows::width, end);
      if (bits) {
        scan_span(a.in + span, a.out + span, i - span, &carry, {a.inclusive, Stores::cached});
        for (std::size_t k = i; k < until; ++k, bits >>= 1) {
          const bool head = bits & 1;
          const Out before = head ? a.initial.alone() : carry;
          carry = a.op(head ? a.initial.value : carry, static_cast<Out>(a.in[k]));
          a.out[k] = a.inclusive ? carry : before;
        }
        span = until;
      }
      i = until;
    }
    scan_span(a.in + span, a.out + span, end - span, &carry, {a.inclusive, Stores::cached});
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::segmented_scan
