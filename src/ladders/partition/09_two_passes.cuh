// partition/two_passes: two stable passes of at most 256 buckets each, for more than 256 buckets.
//
// A bucket number is split into two sub-digits of about equal width. The first pass sorts by the lower sub-digit and
// the second, stably, by the upper: keys with the same upper sub-digit stay in the order of the lower, so the result is
// in bucket order. Both passes use lane_counters, which is limited to 256 buckets because a lane's counters take 256
// bytes, or lookback on GPUs that cannot run lane_counters. A sub-digit of a digit is itself a digit; a user's bucket
// function is called in both passes. The bits are split evenly because runs are longer with fewer buckets: a tile of
// 11520 keys has 5 keys per bucket with 2048 buckets, and 180 with 64.
//
// Searching the splitters takes longer than moving a 4-byte bucket number. So each key is searched once, and the two
// passes partition the bucket numbers, with the keys as payload; if there are values, two more passes partition the
// bucket numbers with the values as payload.
//
// The upper pass yields the offset of each value of its sub-digit. Between two such offsets the output is in bucket
// order, so one thread per bucket finds the bucket's offset by binary search.
//
// Traffic   twice that of lane_counters; with splitters, keys read and bucket numbers written once, then that of
//           lane_counters with values, twice for the keys and, if there are values, twice for the values; log2(n)
//           sectors per bucket.
// Order     stable.
// Source    Manegold, Boncz, Kersten, Optimizing Main-Memory Join on Modern Hardware, 2002 (radix-cluster: the bits
//           divided among passes).
#pragma once
#include "kernel/multisplit/sub_digit.h"
#include "kernel/unit.h"
#include "ladders/partition/bucket_numbers.cuh"
#include "ladders/partition/choose.h"
#include "ladders/partition/passes.cuh"

namespace upsweep::ladders::partition {

static_assert(max_bits <= 2 * 8 && max_counted == 1 << 8, "a sub-digit's values fit a pass");

struct two_passes {
  static constexpr Story story{
      .idea = "more than 256 buckets: a pass by the lower bits of the bucket number, then one by the upper bits",
      .prediction = "two passes of 1.14 ms for 2^28 u32 keys by any digit, and 20 us to find the offsets: 2.3 ms",
      .guarantees = "stable",
      .limits =
          "more than 256 buckets; any n; scratch for keys and values, with splitters for the wider of the two and 8 "
          "or 12 bytes per key; block size fixed",
      .source = "Manegold, Boncz, Kersten, 2002"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t tile_bytes = ThreadTiles<std::uint32_t, 0, 6>::bytes;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.buckets.count <= max_counted)
      return {Code::unsupported, 0, "this rung takes more than 256 buckets: up to 256 need only one pass"};
    if constexpr (std::is_same_v<O, By<Bucketing::splitters>>)
      return by_number(a);
    else
      return by_key(a);
  }

 private:
  // Runs one pass into at most max_counted buckets.
  template <class T, class B>
  static Status pass(const multisplit::Task<T, B>& a) {
    return machine_of_unit().meets(lane_counters_needs) ? lane_pass(a) : lookback_pass(a);
  }

  // Moves the keys and values of `a` in two passes, with `keys` and `values` as the buffers in between. Leaves the
  // upper sub-digit's offsets in a.offsets.
  template <class T, class O>
  static Status pass_twice(const Args<T, O>& a, const DigitSplit& split, T* keys, void* values) {
    const auto by = [&]<class B>(const B& part, const T* from, T* to, const Values& moved) {
      return pass(multisplit::Task<T, B>{a, {from, a.in.n, part}, to, moved, a.offsets});
    };
    const Values& v = a.values;
    if (Status s = by(split.lower(a.in.buckets), a.in.keys, keys, {v.in, values, v.bytes}); !s) return s;
    return by(split.upper(a.in.buckets), keys, a.keys, {values, v.out, v.bytes});
  }
  template <class T, class O>
  static Status by_key(const Args<T, O>& a) {
    const std::size_t n = a.in.n;
    Scratch scratch(*a.workspace);
    auto* const upper = scratch.take<std::uint64_t>(max_counted + 1);  // offsets of the upper sub-digit
    T* const keys = scratch.take<T>(n);
    auto* const values = scratch.take<std::byte>(n * a.values.bytes);
    if (!scratch) return no_memory;
    const DigitSplit split(a.in.buckets.count);
    Args<T, O> passes = a;
    passes.offsets = {upper, true};
    if (Status s = pass_twice(passes, split, keys, values); !s) return s;
    return search_offsets(a, Input<T, O>{a.keys, n, a.in.buckets}, passes.offsets, split.lower_bits);
  }

  template <class T, class O>
  static Status by_number(const Args<T, O>& a) {
    using Number = std::uint32_t;
    using Digit = By<Bucketing::digit>;
    const std::size_t n = a.in.n;
    const unsigned widest = a.values.bytes > sizeof(T) ? a.values.bytes : sizeof(T);
    Scratch scratch(*a.workspace);
    auto* const upper = scratch.take<std::uint64_t>(max_counted + 1);  // offsets of the upper sub-digit
    // Bucket numbers: unsorted, between the passes, and sorted. Without values, the sorted numbers overwrite the
    // unsorted ones.
    auto *const numbers = scratch.take<Number>(n), *const between = scratch.take<Number>(n);
    Number* const sorted = a.values.bytes ? scratch.take<Number>(n) : numbers;
    auto* const moved = scratch.take<std::byte>(n * widest);
    if (!scratch) return no_memory;
    if (Status s = write_numbers(a, numbers); !s) return s;
    // The passes sort bucket numbers; their payload is first the caller's keys, then the values.
    const Buckets<Number, Digit> digit{0, std::bit_ceil(a.in.buckets.count)};
    const DigitSplit split(digit.count);
    Args<Number, Digit> passes{a, {numbers, n, digit}, sorted, {a.in.keys, a.keys, sizeof(T)}, {upper, true}};
    if (Status s = pass_twice(passes, split, between, moved); !s) return s;
    if (a.values.bytes) {
      passes.values = a.values;
      if (Status s = pass_twice(passes, split, between, moved); !s) return s;
    }
    return search_offsets(a, Input<Number, Digit>{sorted, n, digit}, passes.offsets, split.lower_bits);
  }
};

}  // namespace upsweep::ladders::partition
