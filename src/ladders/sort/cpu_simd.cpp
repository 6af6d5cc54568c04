// sort/cpu_simd: the loops of cpu_simd.h.
//
// Compiled once per instruction set; Highway selects one at run time.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/sort/cpu_simd.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "cpu/cache.h"
#include "ladders/partition/cpu_moves-inl.h"
#include "ladders/sort/contract.h"
#include "ladders/sort/cpu_simd.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::sort::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace moves = partition::HWY_NAMESPACE;
using moves::Columns, moves::DigitOf, moves::None;
using partition::Part, multisplit::Wide;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using std::size_t;

// ---- the caller's arrays --------------------------------------------------------------------------------------------

template <class K>
KeyOrder<K> order_of(const Caller& c) {
  return {static_cast<K>(c.flip), static_cast<K>(c.negative)};
}

// The loops that read and write the caller's arrays, for keys of type K with values of type V. They are left to the
// compiler to vectorise.
template <class K, class V>
struct Of {
  static constexpr bool packed = sizeof(K) <= 4 && std::is_same_v<V, u32>;
  using Number = std::conditional_t<sizeof(K) <= 4, u32, u64>;
  using Word = std::conditional_t<packed, u64, Number>;
  using Value = std::conditional_t<packed, None, V>;
  static constexpr unsigned number_bit = packed ? 32 : 0;

  static void numbers(const Caller& c, size_t begin, size_t n, void* to) {
    const KeyOrder<K> order = order_of<K>(c);
    const K* const keys = static_cast<const K*>(c.keys) + begin;
    Number* const numbers = static_cast<Number*>(to);
    for (size_t i = 0; i < n; ++i) numbers[i] = order(keys[i]);
  }
  static void words(const Caller& c, size_t begin, size_t n, void* to) {
    if constexpr (!packed) {
      numbers(c, begin, n, to);
    } else {
      const KeyOrder<K> order = order_of<K>(c);
      const K* const keys = static_cast<const K*>(c.keys) + begin;
      u64* const words = static_cast<u64*>(to);
      if (c.values) {
        const u32* const values = static_cast<const u32*>(c.values) + begin;
        for (size_t i = 0; i < n; ++i) words[i] = u64{order(keys[i])} << 32 | values[i];
      } else {
        for (size_t i = 0; i < n; ++i) words[i] = u64{order(keys[i])} << 32 | static_cast<u32>(begin + i);
      }
    }
  }
  static void read(const Caller& c, size_t begin, size_t n, Elements to) {
    words(c, begin, n, to.words);
    if constexpr (!std::is_same_v<Value, None>) {
      Value* const values = static_cast<Value*>(to.values);
      if (c.values)
        std::copy_n(static_cast<const Value*>(c.values) + begin, n, values);
      else if constexpr (std::is_integral_v<Value>)
        std::iota(values, values + n, static_cast<Value>(begin));
    }
  }
  static void write(const Caller& c, size_t begin, size_t n, Elements from) {
    const KeyOrder<K> order = order_of<K>(c);
    const Word* const words = static_cast<const Word*>(from.words);
    K* const keys = c.out_keys ? static_cast<K*>(c.out_keys) + begin : nullptr;
    if (keys && !(keys == from.words && c.unordered()))
      for (size_t i = 0; i < n; ++i) keys[i] = order.key(static_cast<K>(words[i] >> number_bit));
    if constexpr (packed) {
      u32* const values = static_cast<u32*>(c.out_values) + begin;
      for (size_t i = 0; i < n; ++i) values[i] = static_cast<u32>(words[i]);
    } else if constexpr (!std::is_same_v<V, None>) {
      std::copy_n(static_cast<const V*>(from.values), n, static_cast<V*>(c.out_values) + begin);
    }
  }
};

inline constexpr size_t elements_of_a_row = 2 * moves::digits_of_a_row;  // per batch, read into L1

// A source for partition's loops: reads elements from the caller's arrays.
template <class W, class V>
struct Read {
  using Key = W;
  using Value = V;
  explicit Read(const Part& part) : caller(*static_cast<const Caller*>(part.reader)) {}
  HWY_INLINE moves::Row<W, V> row(size_t at, size_t end) {
    const size_t n = std::min(end - at, elements_of_a_row);
    caller.loops->words(caller, at, n, words);
    if constexpr (std::is_same_v<V, None>) return {words, nullptr, n};
    if (caller.values) return {words, static_cast<const V*>(caller.values) + at, n};
    if constexpr (std::is_integral_v<V>) std::iota(indices, indices + n, static_cast<V>(at));
    return {words, indices, n};
  }
  const Caller& caller;
  HWY_ALIGN W words[elements_of_a_row];
  V indices[std::is_integral_v<V> ? elements_of_a_row : 1];
};
// A source for counting, which needs only the elements' numbers.
template <class N>
struct ReadNumbers {
  using Key = N;
  explicit ReadNumbers(const Part& part) : caller(*static_cast<const Caller*>(part.reader)) {}
  HWY_INLINE moves::Row<N, None> row(size_t at, size_t end) {
    const size_t n = std::min(end - at, elements_of_a_row);
    caller.loops->numbers(caller, at, n, numbers);
    return {numbers, nullptr, n};
  }
  const Caller& caller;
  HWY_ALIGN N numbers[elements_of_a_row];
};
template <class N, unsigned number_bit>
void count_numbers(const Part& part, u32* counts, u32* tables) {
  Part numbers = part;
  numbers.first_bit -= number_bit;
  moves::count<ReadNumbers<N>, DigitOf<N>>(numbers, counts, tables);
}

// ---- bits that differ -----------------------------------------------------------------------------------------------

// Returns the bits in which words differ from `first`.
template <class W>
W differ_from(W first, const W* words, size_t n) {
  const hn::ScalableTag<W> d;
  const size_t lanes = hn::Lanes(d);
  const auto start = hn::Set(d, first);
  auto even = hn::Zero(d), odd = even;
  size_t i = 0;
  for (; n - i >= 2 * lanes; i += 2 * lanes) {
    even = hn::Or(even, hn::Xor(hn::LoadU(d, words + i), start));
    odd = hn::Or(odd, hn::Xor(hn::LoadU(d, words + i + lanes), start));
  }
  HWY_ALIGN W all[hn::MaxLanes(d)];
  hn::Store(hn::Or(even, odd), d, all);
  W differ = 0;
  for (size_t k = 0; k < lanes; ++k) differ |= all[k];
  for (; i < n; ++i) differ |= words[i] ^ first;
  return differ;
}
template <class W>
u64 differ(Elements e, size_t n) {
  const W* const words = static_cast<const W*>(e.words);
  return differ_from(words[0], words, n);
}
template <class N, unsigned number_bit>
u64 differ_read(const Caller& c, size_t begin, size_t n) {
  HWY_ALIGN N numbers[elements_of_a_row];
  c.loops->numbers(c, begin, 1, numbers);
  const N first = numbers[0];
  N differ = 0;
  for (size_t i = 0; i < n; i += elements_of_a_row) {
    const size_t some = std::min(n - i, elements_of_a_row);
    c.loops->numbers(c, begin + i, some, numbers);
    differ |= differ_from(first, numbers, some);
  }
  return u64{differ} << number_bit;
}

// ---- floats that are equal though their bits differ -----------------------------------------------------------------

// True if any of n floats is -0 or NaN. `infinity`: the bits of +inf in their type.
template <class B>
bool any_zero_or_nan(const void* keys, size_t n, B infinity) {
  const hn::ScalableTag<B> d;
  const hn::RebindToSigned<decltype(d)> number;  // magnitudes have a clear sign bit, so signed compares work
  const B sign = static_cast<B>(B{1} << (8 * sizeof(B) - 1));
  const auto minus_zero = hn::Set(d, sign), magnitude = hn::Set(d, static_cast<B>(sign - 1));
  const auto largest = hn::BitCast(number, hn::Set(d, infinity));
  const auto is_one = [&](auto v) HWY_ATTR {
    const auto is_nan = hn::Gt(hn::BitCast(number, hn::And(v, magnitude)), largest);
    return hn::Or(hn::VecFromMask(d, hn::Eq(v, minus_zero)), hn::BitCast(d, hn::VecFromMask(number, is_nan)));
  };
  const B* const in = static_cast<const B*>(keys);
  const size_t lanes = hn::Lanes(d);
  auto any = hn::Zero(d);
  size_t i = 0;
  for (; n - i >= lanes; i += lanes) any = hn::Or(any, is_one(hn::LoadU(d, in + i)));
  for (; i < n; ++i) any = hn::Or(any, is_one(hn::Set(d, in[i])));
  return !hn::AllTrue(d, hn::Eq(any, hn::Zero(d)));
}
bool zero_or_nan(Type type, const void* keys, size_t n) {
  switch (type) {
    case Type::f16:
      return any_zero_or_nan(keys, n, f16::infinity);
    case Type::bf16:
      return any_zero_or_nan(keys, n, bf16::infinity);
    case Type::f32:
      return any_zero_or_nan(keys, n, std::uint32_t{0x7f800000u});
    default:
      return any_zero_or_nan(keys, n, std::uint64_t{0x7ff0000000000000u});
  }
}

// ---- sorting in the cache -------------------------------------------------------------------------------------------

// Stable insertion sort. Gives up after `most` moves and returns false; the elements are then a permutation in which
// equal ones keep their order.
template <class W, class V>
bool insert(Columns<W, V> e, size_t n, W mask, size_t most) {
  const hn::ScalableTag<W> d;
  const auto masks = hn::Set(d, mask);
  const auto masked = [&](size_t i) HWY_ATTR { return hn::And(hn::LoadU(d, e.keys + i), masks); };
  for (size_t i = 1; i < n;) {
    while (n - i >= hn::Lanes(d) && hn::AllFalse(d, hn::Gt(masked(i - 1), masked(i)))) i += hn::Lanes(d);
    for (const size_t stop = std::min(n, i + 16); i < stop; ++i) {
      const W word = e.keys[i], key = word & mask;
      if ((e.keys[i - 1] & mask) <= key) continue;
      [[maybe_unused]] V value{};
      if constexpr (Columns<W, V>::pairs) value = e.values[i];
      size_t to = i;
      do {
        e.put(to, e.keys[to - 1], e.values, to - 1);
        --to;
      } while (to > 0 && (e.keys[to - 1] & mask) > key);
      e.put(to, word, &value, 0);
      if (i - to > most) return false;
      most -= i - to;
    }
  }
  return true;
}

// In-place exclusive scan of n counts; n is a power of two, at least 4. Handles four counts per iteration, with only
// one addition in the dependency chain.
HWY_INLINE void sum_before(u32* counts, unsigned n) {
  u32 sum = 0;
  for (unsigned k = 0; k < n; k += 4) {
    const u32 a = counts[k], b = counts[k + 1], c = counts[k + 2], e = counts[k + 3];
    const u32 ab = a + b, abc = ab + c;
    counts[k] = sum;
    counts[k + 1] = sum + a;
    counts[k + 2] = sum + ab;
    counts[k + 3] = sum + abc;
    sum += abc + e;
  }
}

template <class W>
void count_digit(const W* words, size_t n, DigitOf<W> digit, u32* counts) {
  HWY_ALIGN W digits[moves::digits_of_a_row];
  size_t i = 0;
  for (; n - i >= moves::digits_of_a_row; i += moves::digits_of_a_row) {
    moves::find_digits(words + i, digit, digits);
    moves::count_digits(digits, counts, counts, counts, counts);
  }
  for (; i < n; ++i) ++counts[digit(i, words[i])];
}
// Counts two digits in one loop, because updates of different tables do not wait for each other. Prefetches the lines
// of `a` and `b`, which the passes will write in random order; not those of `b` if it is `words`.
template <class W>
void count_two(const W* words, size_t n, DigitOf<W> low, DigitOf<W> high, u32* low_counts, u32* high_counts, const W* a,
               const W* b) {
  constexpr size_t row = moves::digits_of_a_row;
  HWY_ALIGN W digits[2 * row];
  size_t i = 0;
  for (; n - i >= row; i += row) {
    for (size_t k = 0; k < row; k += partition::line_bytes / sizeof(W)) {
      hwy::Prefetch(a + i + k);
      if (b != words) hwy::Prefetch(b + i + k);
    }
    moves::find_digits(words + i, low, digits);
    moves::find_digits(words + i, high, digits + row);
    moves::count_digits(digits, low_counts, low_counts, low_counts, low_counts);
    moves::count_digits(digits + row, high_counts, high_counts, high_counts, high_counts);
  }
  for (; i < n; ++i) {
    ++low_counts[low(i, words[i])];
    ++high_counts[high(i, words[i])];
  }
}

// Moves elements to their buckets; next[b] is the output index of bucket b's next element. `ahead`: prefetches the line
// after the one that an element goes to.
template <bool ahead, class W, class V>
HWY_NOINLINE void move_to(Columns<W, V> from, Columns<W, V> to, size_t n, DigitOf<W> digit, u32* next) {
#pragma GCC unroll 4
  for (size_t i = 0; i < n; ++i) {
    const W word = from.keys[i];
    const u32 at = next[digit(i, word)]++;
    if constexpr (ahead) {
      hwy::Prefetch(to.keys + at + partition::line_bytes / sizeof(W));
      if constexpr (to.pairs) hwy::Prefetch(to.values + at + partition::line_bytes / sizeof(V));
    }
    to.put(at, word, from.values, i);
  }
}
// Moves elements to their buckets, with prefetches if an array takes half of a core's L2: its lines are then evicted
// before the pass writes them. 2^17 keys on a Zen 5, with other work before each call: 338 us with prefetches, 451 us
// without.
template <class W, class V>
void move_all(Columns<W, V> from, Columns<W, V> to, size_t n, DigitOf<W> digit, u32* next) {
  if (n * sizeof(W) >= second_level_cache_bytes() / 2)
    move_to<true>(from, to, n, digit, next);
  else
    move_to<false>(from, to, n, digit, next);
}

// True if a digit's counts are too uneven for random keys, as with floats, whose exponents are alike: too many keys
// then agree in all digits for insertion sort.
HWY_INLINE bool uneven(const u32* counts, unsigned buckets, size_t n) {
  const u32 most = *std::max_element(counts, counts + buckets);
  return most > 16 && most > n / 16;
}

template <class W>
constexpr W mask_of(unsigned low, unsigned high) {  // bits [low, high), low < high
  return static_cast<W>(static_cast<W>(static_cast<W>(-1) >> (8 * sizeof(W) - (high - low))) << low);
}

// Maximum elements for which insertion sort is faster than a pass.
inline constexpr size_t few_elements = 24;

// Bits that a sort takes beyond log2 n. It sorts from the least significant digit up, but only by the highest of the
// bits [low, high), so many that random keys hardly ever agree in all of them. Insertion sort fixes those that do; if
// that takes too long, the keys are not random, and the sort is repeated by all bits. Only least_more_bits are taken if
// that saves a pass. M keys/s on one Zen 5 core, in three passes and in two: 2^17 keys 295 and 480, 2^18 keys 410 and
// 500.
inline constexpr unsigned more_bits = 6, least_more_bits = 4;

template <class W, class V>
Columns<W, V> sort_digits(Columns<W, V> from, Columns<W, V> a, Columns<W, V> b, size_t n, unsigned low, unsigned high,
                          u32* counts, bool all_bits) {
  const unsigned log = static_cast<unsigned>(std::bit_width(n - 1)), wide = high - low;
  // Maximum digit width: log2 n, but at least 8. For few elements, wider digits save passes but have more counters to
  // clear and add up. A sort by all bits takes the widest digits: its digits are uneven, elements with the same digit
  // wait for each other, and wide digits spread them over more counters.
  const unsigned widest = all_bits ? widest_digit : std::clamp(log, 8u, widest_digit);
  const unsigned wanted = all_bits ? wide : std::min(wide, log + more_bits);
  const unsigned least = all_bits ? wide : std::min(wide, log + least_more_bits);
  const unsigned passes = (least + widest - 1) / widest,
                 width = std::max(2u, std::min(widest, (wanted + passes - 1) / passes));
  const unsigned used = std::min(wide, width * passes), bottom = high - used;
  const unsigned buckets = 1u << width;
  // The highest digit may have fewer bits.
  const auto digit = [&](unsigned p) HWY_ATTR {
    const unsigned first = bottom + p * width;
    return DigitOf<W>(first, 1u << std::min(width, high - first));
  };
  Columns<W, V> at = from, to = a, other = b;
  if (passes == 2) {
    u32* const high_counts = counts + buckets;
    std::fill_n(counts, 2 * buckets, 0u);
    count_two(from.keys, n, digit(0), digit(1), counts, high_counts, a.keys, b.keys);
    if (bottom > low && !all_bits && uneven(high_counts, buckets, n))
      return sort_digits(from, a, b, n, low, high, counts, /*all_bits=*/true);
    sum_before(counts, buckets);
    sum_before(high_counts, buckets);
    move_all(from, a, n, digit(0), counts);
    move_all(a, b, n, digit(1), high_counts);
    at = b;
    other = a;
  } else {
    for (unsigned p = 0; p < passes; ++p) {
      std::fill_n(counts, buckets, 0u);
      count_digit(at.keys, n, digit(p), counts);
      sum_before(counts, buckets);
      move_all(at, to, n, digit(p), counts);
      at = to;
      std::swap(to, other);
    }
    other = to;
  }
  // Maximum moves of the insertion sort: half a move per element, plus 16 for small n.
  if (bottom == low || insert(at, n, mask_of<W>(low, high), n / 2 + 16)) return at;
  return sort_digits(at, other, at, n, low, high, counts, /*all_bits=*/true);
}

template <class W, class V>
Elements sort(Elements from, Elements a, Elements b, size_t n, unsigned low, unsigned high, u32* counts) {
  const auto columns = [](Elements e) { return Columns<W, V>{static_cast<W*>(e.words), static_cast<V*>(e.values)}; };
  const Columns<W, V> in = columns(from), out = columns(b);
  const W mask = mask_of<W>(low, high);
  if (n <= few_elements) {
    if (in.keys != out.keys)
      for (size_t i = 0; i < n; ++i) out.put(i, in.keys[i], in.values, i);
    insert(out, n, mask, n * n);
    return b;
  }
  const W differ = differ_from(in.keys[0], in.keys, n) & mask;
  if (differ == 0) return from;
  const auto sorted = sort_digits(in, columns(a), out, n, static_cast<unsigned>(std::countr_zero(differ)),
                                  static_cast<unsigned>(std::bit_width(differ)), counts, /*all_bits=*/false);
  return {sorted.keys, sorted.values};
}

// ---- dispatch -------------------------------------------------------------------------------------------------------

template <class K, class V>
const Loops& loops_of() {
  using As = Of<K, V>;
  using W = typename As::Word;
  using E = typename As::Value;
  using Source = Read<W, E>;
  using Digits = DigitOf<W>;
  static const Loops loops{&As::words,
                           &As::numbers,
                           &As::read,
                           &As::write,
                           // Counting reads only numbers. No plan of sort uses `combine`.
                           {&count_numbers<typename As::Number, As::number_bit>, &moves::scatter<Source, Digits>,
                            nullptr, &moves::blocks<Source, Digits>},
                           partition::simd_loops(sizeof(W), std::is_same_v<E, None> ? 0 : sizeof(E), /*by_ids=*/false),
                           &differ_read<typename As::Number, As::number_bit>,
                           &differ<W>,
                           &sort<W, E>};
  return loops;
}
template <class K>
const Loops& loops_with(unsigned value_bytes) {
  switch (value_bytes) {
    case 0:
      return loops_of<K, None>();
    case 4:
      return loops_of<K, u32>();
    case 8:
      return loops_of<K, u64>();
    default:
      return loops_of<K, Wide>();
  }
}
const Loops& find_loops(unsigned key_bytes, unsigned value_bytes) {
  switch (key_bytes) {
    case 1:
      return loops_with<u8>(value_bytes);
    case 2:
      return loops_with<u16>(value_bytes);
    case 4:
      return loops_with<u32>(value_bytes);
    default:
      return loops_with<u64>(value_bytes);
  }
}

}  // namespace upsweep::ladders::sort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::sort {
HWY_EXPORT(find_loops);
HWY_EXPORT(zero_or_nan);

bool zero_or_nan(Type type, const void* keys, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(zero_or_nan)(type, keys, n);
}

const Loops& simd_loops(unsigned key_bytes, unsigned value_bytes) {
  return HWY_DYNAMIC_DISPATCH(find_loops)(key_bytes, value_bytes);
}

}  // namespace upsweep::ladders::sort
#endif
