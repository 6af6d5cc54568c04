// partition/two_passes: more than 256 buckets by two stable passes of 256 or fewer.
//
// A bucket's number has two sub-digits of about as many bits. A pass by the lower one, then a stable pass by the upper
// one: keys that agree in the upper sub-digit are still in the order of the lower, so that they are in order by bucket.
// Both passes are those of lane_counters, which cannot have more buckets: a lane's counters are 256 bytes. A GPU that
// cannot run them has those of lookback. A sub-digit of a digit is a digit; a user's function is called
// anew for each sub-digit. The bits are split evenly because runs are longer the fewer buckets a pass has: of 2048
// buckets, a tile of 11520 keys would have 5 keys each; of 64, 180.
//
// A search among splitters takes longer than moving a number of 4 bytes. So each key is searched once, and the passes
// partition the numbers of the buckets, with the keys as their values; then the same again with the values.
//
// The upper pass knows where each value of its sub-digit begins. Between two of them the output is in order by bucket:
// a thread for each bucket searches there.
//
// Traffic   as lane_counters, twice; between splitters keys read and numbers written once, then lane_counters with
//           values twice for the keys and twice for the values; log2(n) sectors per bucket.
// Order     stable.
// Source    Manegold, Boncz, Kersten, Optimizing Main-Memory Join on Modern Hardware, 2002 (radix-cluster: the bits
//           divided among passes).
#pragma once
#include "kernel/multisplit/sub_digit.h"
#include "kernel/unit.h"
#include "ladders/partition/bucket_numbers.cuh"
#include "ladders/partition/choose.h"
#include "ladders/partition/lane_pass.cuh"
#include "ladders/partition/lookback_pass.cuh"

namespace upsweep::ladders::partition {

static_assert(max_bits <= 2 * 8 && max_counted == 1 << 8, "a sub-digit's values fit a pass");

struct two_passes {
  static constexpr Story story{
      .idea = "more than 256 buckets: by the lower bits of a bucket's number, then by the upper ones",
      .prediction = "two passes of 1.14 ms for 2^28 u32 keys by any digit, and 20 us to find the offsets: 2.3 ms",
      .guarantees = "stable",
      .limits =
          "more than 256 buckets; any n; scratch for keys and values, between splitters for the wider of both and 8 "
          "or 12 bytes per key; block size fixed",
      .source = "Manegold, Boncz, Kersten, 2002"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.buckets.count <= max_counted)
      return {Code::unsupported, 0, "this rung has more than 256 buckets: fewer are one pass"};
    if constexpr (std::is_same_v<O, By<Bucketing::splitters>>)
      return by_number(a);
    else
      return by_key(a);
  }

 private:
  // Scratch of this rung, in arrays that begin on 256 bytes; a pass has the other areas. The upper sub-digit's offsets
  // come first.
  static std::size_t rounded(std::size_t bytes) { return ceil_div(bytes, 256) * 256; }
  static constexpr std::size_t upper_bytes = ceil_div((max_counted + 1) * sizeof(std::uint64_t), 256) * 256;
  template <class T, class O>
  static std::byte* scratch(const Args<T, O>& a, std::size_t bytes) {
    return static_cast<std::byte*>(a.workspace->scratch_of_caller(bytes, /*depth=*/2));
  }

  // One pass, of at most max_counted buckets.
  template <class T, class B>
  static Status pass(const multisplit::Task<T, B>& a) {
    return machine_of_unit().meets(lane_counters_needs) ? lane_pass(a) : lookback_pass(a);
  }

  // Moves the keys and values of `a` in two passes, through `keys` and `values`. Its offsets become those of the upper
  // sub-digit.
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
    const std::size_t n = a.in.n, key_bytes = rounded(n * sizeof(T));
    std::byte* const memory = scratch(a, upper_bytes + key_bytes + n * a.values.bytes);
    if (!memory) return no_memory;
    const DigitSplit split(a.in.buckets.count);
    Args<T, O> passes = a;
    passes.offsets = {memory, true};
    auto* const keys = reinterpret_cast<T*>(memory + upper_bytes);
    if (Status s = pass_twice(passes, split, keys, memory + upper_bytes + key_bytes); !s) return s;
    return search_offsets(a, Input<T, O>{a.keys, n, a.in.buckets}, passes.offsets, split.lower_bits);
  }

  template <class T, class O>
  static Status by_number(const Args<T, O>& a) {
    using Number = std::uint32_t;
    using Digit = By<Bucketing::digit>;
    const std::size_t n = a.in.n, number_bytes = rounded(n * sizeof(Number));
    const unsigned widest = a.values.bytes > sizeof(T) ? a.values.bytes : sizeof(T);
    // Unsorted, between the passes, and sorted; without values, the sorted numbers overwrite the unsorted ones.
    const unsigned arrays = a.values.bytes ? 3 : 2;
    std::byte* const memory = scratch(a, upper_bytes + arrays * number_bytes + n * widest);
    if (!memory) return no_memory;
    const auto array = [&](unsigned k) { return reinterpret_cast<Number*>(memory + upper_bytes + k * number_bytes); };
    Number *const numbers = array(0), *const between = array(1), *const sorted = array(a.values.bytes ? 2 : 0);
    void* const moved = array(arrays);
    if (Status s = write_numbers(a, numbers); !s) return s;
    // The numbers as keys, of which the keys, and then the values, are the values.
    const Buckets<Number, Digit> digit{0, std::bit_ceil(a.in.buckets.count)};
    const DigitSplit split(digit.count);
    Args<Number, Digit> passes{a, {numbers, n, digit}, sorted, {a.in.keys, a.keys, sizeof(T)}, {memory, true}};
    if (Status s = pass_twice(passes, split, between, moved); !s) return s;
    if (a.values.bytes) {
      passes.values = a.values;
      if (Status s = pass_twice(passes, split, between, moved); !s) return s;
    }
    return search_offsets(a, Input<Number, Digit>{sorted, n, digit}, passes.offsets, split.lower_bits);
  }
};

}  // namespace upsweep::ladders::partition
