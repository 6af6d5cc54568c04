// sort/lsd_4bit: a pass per digit of four bits, each a stable partition into 16 buckets.
//
// split_1bit moves every key once per bit. A partition into 16 buckets moves it once per four bits: 8 moves per u32 key
// instead of 32. Each pass is partition/shared_reorder: it counts each block's keys per bucket, scans the counts, and
// sorts each tile by digit in shared memory before writing it.
//
// Traffic   per digit of four bits: keys read twice and written once, values read and written once.
// Order     stable.
// Source    Satish, Harris, Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, 2009.
#pragma once
#include "kernel/multisplit/reorder.h"
#include "ladders/scan/10_reduce_then_scan.cuh"
#include "ladders/sort/moves.cuh"

namespace upsweep::ladders::sort {

// Maps a key to its bucket, a digit of its number.
template <class Order>
struct OrderDigit {
  Order order;
  unsigned first_bit;
  unsigned count;  // a power of two
  UPSWEEP_HD unsigned operator()(typename Order::Key key) const {
    return static_cast<unsigned>(order(key) >> first_bit) & (count - 1);
  }
};

struct lsd_4bit {
  static constexpr Story story{
      .idea = "a pass per four bits: a stable partition into 16 buckets, tiles sorted in shared memory",
      .prediction = "8 passes of 12 bytes per u32 key instead of 32 of 28: 8 times split_1bit",
      .guarantees = "stable",
      .limits = "any n; whole warps, at most 512 threads; five launches per digit",
      .source = "Satish, Harris, Garland, 2009"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    using Key = typename Args<T, O>::Key;
    constexpr unsigned digit = 4;
    Scratch scratch(*a.workspace);
    auto* const starts = scratch.take<std::uint64_t>((1 << digit) + 1);  // bucket starts, unused here
    if (!scratch) return no_memory;
    return in_passes(a, static_cast<unsigned>(ceil_div(a.bits, digit)), [&](const Moved<Key>& moved, unsigned pass) {
      const unsigned first = pass * digit, left = a.bits - first;
      const OrderDigit<OrderOf<T>> buckets{a.order, a.first_bit + first, 1u << (left < digit ? left : digit)};
      return multisplit::reorder_pass(
          multisplit::Task<Key, OrderDigit<OrderOf<T>>>{
              a, {moved.keys, a.n, buckets}, moved.out, moved.values, {starts, true}},
          [&](std::uint64_t* counts, std::size_t count) {
            return scan::reduce_then_scan::run<std::uint64_t, Sum>({a, counts, counts, count, false, Sum{}});
          });
    });
  }
};

}  // namespace upsweep::ladders::sort
