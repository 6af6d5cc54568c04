// segmented_scan/parallel: all cores, blocks by ticket; long runs without a head by scan's SIMD loop.
//
// Idea      chained scan, like scan's single_pass: a core takes the next block, totals it, waits for the prefix that
//           the previous block publishes, publishes its own, and only then scans, from its L2. If a segment begins in
//           the block, it publishes the sum from the last head on, and only that part is read first. Heads come 64 bits
//           at a time: windows without one go to scan's SIMD loop as one span, the others element by element.
// Traffic   in and heads read, out written.
// Order     that of scan's simd in spans, left to right elsewhere.
// Source    Yan, Long, Zhang, StreamScan, 2013; the windows are our own.
#include <algorithm>
#include <bit>

#include "cpu/parallel.h"
#include "ladders/reduce/cpu_simd.h"
#include "ladders/scan/cpu_in_order.h"
#include "ladders/scan/cpu_simd.h"
#include "ladders/segmented_scan/binding.h"
#include "ladders/segmented_scan/cpu_heads.h"
#include "ladders/segmented_scan/run.h"

namespace upsweep::ladders::segmented_scan {

namespace {  // a rung of the same name may exist on the GPU

// Fits half of an L2, like scan's blocks, here with heads of up to 4 bytes each.
constexpr std::size_t block_elements = 32 << 10;

struct parallel {
  static constexpr Story story{
      .idea = "blocks by ticket; spans without a head by SIMD; of a block with a head, only the end is summed first",
      .prediction = "scan's single_pass where segments are long; serial's speed times the cores where they are short",
      .guarantees = "an order that depends on the vector width and the output's alignment",
      .limits = "any n; in place; params: threads",
      .source = "Yan, Long, Zhang, StreamScan, 2013"};

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const std::size_t blocks = (a.n + block_elements - 1) / block_elements;
    const int threads = blocks == 1 ? 1 : threads_of(a.tuning);
    T prefix = Op::template neutral<T>();
    scan::in_order(blocks, threads, [&](std::size_t b, auto in_turn, auto) {
      const std::size_t begin = b * block_elements, end = std::min(begin + block_elements, a.n);
      const Run<T> total = join(a, begin, end);
      T carry;
      in_turn([&] {
        carry = prefix;
        prefix = total.head ? total.value : a.op(carry, total.value);
      });
      scan_block(a, begin, end, carry);
    });
    return {};
  }

 private:
  template <class T, class Op>
  static Run<T> join(const Args<T, Op>& a, std::size_t begin, std::size_t end) {
    static const auto reduce = reduce::simd_reduction(type_of<T>(), Op::operation, reduce::From::caches);
    std::size_t from = begin;
    bool head = false;
    HeadWindows heads(a.heads, begin, end);
    for (std::size_t i = begin; i < end; i += HeadWindows::width)
      if (const std::uint64_t bits = heads.next()) {
        from = i + static_cast<std::size_t>(std::bit_width(bits) - 1);
        head = true;
      }
    T value;
    reduce(a.in + from, end - from, &value);
    return {value, head};
  }

  template <class T, class Op>
  static void scan_block(const Args<T, Op>& a, std::size_t begin, std::size_t end, T carry) {
    static const scan::SpanScan scan_span = scan::simd_scan(type_of<T>(), Op::operation);
    HeadWindows heads(a.heads, begin, end);
    std::size_t span = begin;  // [span, i) has no head
    for (std::size_t i = begin; i < end;) {
      std::uint64_t bits = heads.next();
      const std::size_t until = std::min(i + HeadWindows::width, end);
      if (bits) {
        scan_span(a.in + span, a.out + span, i - span, &carry, {a.inclusive, Stores::cached});
        for (std::size_t k = i; k < until; ++k, bits >>= 1) {
          const bool head = bits & 1;
          const T before = head ? value_of_none<Op, T>() : carry;
          carry = a.op(head ? Op::template neutral<T>() : carry, a.in[k]);
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
