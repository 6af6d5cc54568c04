// The loops that count and move elements on one core, shared by partition and sort. Compiled once per instruction set
// by Highway's foreach_target, hence the toggling include guard.
#if defined(UPSWEEP_PARTITION_CPU_MOVES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef UPSWEEP_PARTITION_CPU_MOVES_INL_H
#undef UPSWEEP_PARTITION_CPU_MOVES_INL_H
#else
#define UPSWEEP_PARTITION_CPU_MOVES_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

#include "ladders/partition/cpu_simd.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::partition::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using std::size_t;

// ---- elements -------------------------------------------------------------------------------------------------------

template <class K>
struct DigitOf {
  explicit DigitOf(const Part& part) : DigitOf(part.first_bit, part.buckets) {}
  DigitOf(unsigned first_bit, unsigned buckets) : shift(first_bit), mask(buckets - 1) {}
  HWY_INLINE u32 operator()(size_t, K key) const { return static_cast<u32>(key >> shift) & mask; }
  unsigned shift;
  u32 mask;
};

template <class K>
struct IdOf {
  explicit IdOf(const Part& part) : ids(part.ids) {}
  HWY_INLINE u32 operator()(size_t i, K) const { return ids[i]; }
  const u16* ids;
};

struct None {};  // keys alone

// An array of keys and, for pairs, an array of values.
template <class K, class V>
struct Columns {
  static constexpr bool pairs = !std::is_same_v<V, None>;
  static constexpr size_t per_line = elements_per_line(sizeof(K), pairs ? sizeof(V) : 0);

  K* keys;
  V* values;

  // Writes `key` and its value, all[from], to index `to`.
  HWY_INLINE void put(size_t to, K key, const V* all, size_t from) const {
    keys[to] = key;
    if constexpr (pairs) values[to] = all[from];
  }
};

// Consecutive elements. The loops read their elements from a source, which is constructed from a Part; its row(at, end)
// returns a row of elements that begins at `at` and ends at `end` or before.
template <class K, class V>
struct Row {
  const K* keys;    // [n]
  const V* values;  // [n]; null for keys alone
  size_t n;
};
// A source that returns the part's arrays as one row.
template <class K, class V>
struct InMemory {
  using Key = K;
  using Value = V;
  explicit InMemory(const Part& part)
      : keys(static_cast<const K*>(part.keys)), values(static_cast<const V*>(part.values)) {}
  HWY_INLINE Row<K, V> row(size_t at, size_t end) {
    if constexpr (std::is_same_v<V, None>)
      return {keys + at, nullptr, end - at};
    else
      return {keys + at, values + at, end - at};
  }
  const K* keys;
  const V* values;
};

template <class T>
HWY_INLINE void copy_lines(const T* from, T* to, size_t n, bool around) {
  const hn::CappedTag<u8, line_bytes> d;
  const u8* const in = reinterpret_cast<const u8*>(from);
  u8* const out = reinterpret_cast<u8*>(to);
  for (size_t i = 0; i < n * sizeof(T); i += line_bytes) {
    if (around) {
      for (size_t k = i; k < i + line_bytes; k += hn::Lanes(d)) hn::Stream(hn::Load(d, in + k), d, out + k);
    } else {
      for (size_t k = i; k < i + line_bytes; k += hn::Lanes(d)) hn::StoreU(hn::Load(d, in + k), d, out + k);
    }
  }
}

// Copies elements from scratch to the output line by line.
template <class K, class V>
class Sink {
 public:
  using C = Columns<K, V>;
  static constexpr size_t per_line = C::per_line;

  Sink(const Part& part, void* slots, size_t count, Stores stores)
      : held{static_cast<K*>(slots), reinterpret_cast<V*>(static_cast<K*>(slots) + count)},
        out{static_cast<K*>(part.out_keys), static_cast<V*>(part.out_values)} {
    const auto keys = reinterpret_cast<std::uintptr_t>(out.keys), values = reinterpret_cast<std::uintptr_t>(out.values);
    // Lines are those of the narrower array. If the other array's lines begin at different elements, only ordinary
    // stores work.
    const bool by_values = C::pairs && sizeof(V) < sizeof(K);
    phase_ = by_values ? values % line_bytes / sizeof(V) : keys % line_bytes / sizeof(K);
    const size_t whole = per_line - phase_;  // the index of an element that begins a line
    around_ = stores == Stores::around && (keys + whole * sizeof(K)) % line_bytes == 0 &&
              (!C::pairs || (values + whole * sizeof(V)) % line_bytes == 0);
  }
  // Returns the number of elements that precede output index i in its line.
  size_t before(u64 i) const { return static_cast<size_t>(i + phase_) % per_line; }
  HWY_INLINE void line(size_t slot, u64 to) const {
    copy_lines(held.keys + slot, out.keys + to, per_line, around_);
    if constexpr (C::pairs) copy_lines(held.values + slot, out.values + to, per_line, around_);
  }
  HWY_INLINE void some(size_t slot, u64 to, size_t n) const {
    for (size_t k = 0; k < n; ++k) out.put(to + k, held.keys[slot + k], held.values, slot + k);
  }
  HWY_INLINE void keep(size_t from, size_t slot) const {
    copy_lines(held.keys + from, held.keys + slot, per_line, false);
    if constexpr (C::pairs) copy_lines(held.values + from, held.values + slot, per_line, false);
  }
  void finish() const {
    if (around_) hwy::FlushStream();
  }

  const C held;

 private:
  const C out;
  size_t phase_;
  bool around_;
};

// ---- counting -------------------------------------------------------------------------------------------------------

inline constexpr size_t digits_of_a_row = 128;  // in L1, and enough for extraction and counting to overlap

template <class K>
HWY_INLINE void find_digits(const K* keys, DigitOf<K> digit, K* digits) {
  const hn::ScalableTag<K> d;
  const auto mask = hn::Set(d, static_cast<K>(digit.mask));
  for (size_t i = 0; i < digits_of_a_row; i += hn::Lanes(d))
    hn::Store(hn::And(hn::ShiftRightSame(hn::LoadU(d, keys + i), static_cast<int>(digit.shift)), mask), d, digits + i);
}

// Counts a row's digits in four tables, which may alias.
template <class K>
HWY_INLINE void count_digits(const K* digits, u32* a, u32* b, u32* c, u32* e) {
  for (size_t k = 0; k < digits_of_a_row; k += 4) {
    if constexpr (sizeof(K) == 4) {  // two digits per load, because the counters need loads, too
      u64 two[2];
      std::memcpy(two, digits + k, sizeof two);
      ++a[static_cast<u32>(two[0])];
      ++b[two[0] >> 32];
      ++c[static_cast<u32>(two[1])];
      ++e[two[1] >> 32];
    } else {
      ++a[digits[k]];
      ++b[digits[k + 1]];
      ++c[digits[k + 2]];
      ++e[digits[k + 3]];
    }
  }
}

// Returns the number of tables in which to count: several, because equal neighbouring digits serialise on one counter,
// if the tables fit in L1 and n is large enough to pay for clearing and summing them. With 4 tables and with one, on a
// Zen 5: 2^10 keys into 2^8 buckets 1.8 and 1.3 us, 2^12 keys into 2^10 buckets 8.3 and 6.8 us, 2^12 keys into 2^8
// buckets the same.
HWY_INLINE unsigned tables_for(unsigned buckets, size_t n) {
  if (n < 12 * size_t{buckets}) return 1;
  return buckets <= 1024 ? 4 : buckets <= 2048 ? 2 : 1;
}

template <class Source, class Bucket>
void count(const Part& part, u32* counts, u32* tables) {
  using K = typename Source::Key;
  Source source(part);
  const Bucket bucket(part);
  const unsigned buckets = part.buckets, copies = tables_for(buckets, part.end - part.begin);
  u32* const a = copies > 1 ? tables : counts;
  u32* const b = copies > 1 ? a + buckets : a;
  u32* const c = copies > 2 ? b + buckets : a;
  u32* const e = copies > 2 ? c + buckets : b;
  if (copies > 1) std::fill_n(a, copies * buckets, 0u);
  for (size_t at = part.begin; at < part.end;) {
    const auto [keys, values, n] = source.row(at, part.end);
    size_t i = 0;
    if constexpr (std::is_same_v<Bucket, DigitOf<K>>) {
      HWY_ALIGN K digits[digits_of_a_row];
      for (; n - i >= digits_of_a_row; i += digits_of_a_row) {
        find_digits(keys + i, bucket, digits);
        count_digits(digits, a, b, c, e);
      }
    } else {
      for (; n - i >= 4; i += 4) {
        ++a[bucket(at + i, 0)];
        ++b[bucket(at + i + 1, 0)];
        ++c[bucket(at + i + 2, 0)];
        ++e[bucket(at + i + 3, 0)];
      }
    }
    for (; i < n; ++i) ++a[bucket(at + i, keys[i])];
    at += n;
  }
  if (copies == 4)
    for (unsigned k = 0; k < buckets; ++k) counts[k] += (a[k] + b[k]) + (c[k] + e[k]);
  else if (copies == 2)
    for (unsigned k = 0; k < buckets; ++k) counts[k] += a[k] + b[k];
}

// ---- moving ---------------------------------------------------------------------------------------------------------

template <class Source, class Bucket>
void scatter(const Part& part, u32* next) {
  using K = typename Source::Key;
  using V = typename Source::Value;
  Source source(part);
  const Bucket bucket(part);
  const Columns<K, V> out{static_cast<K*>(part.out_keys), static_cast<V*>(part.out_values)};
  for (size_t at = part.begin; at < part.end;) {
    const Row<K, V> row = source.row(at, part.end);
#pragma GCC unroll 4
    for (size_t i = 0; i < row.n; ++i) {
      const K key = row.keys[i];
      out.put(next[bucket(at + i, key)]++, key, row.values, i);
    }
    at += row.n;
  }
}

template <class Source, class Bucket>
void combine(const Part& part, u64* next, Stores stores, void* scratch) {
  using K = typename Source::Key;
  using V = typename Source::Value;
  using S = Sink<K, V>;
  constexpr size_t per_line = S::per_line;
  Source source(part);
  const Bucket bucket(part);
  const unsigned buckets = part.buckets;
  u32* const slots = static_cast<u32*>(scratch);  // [buckets] the slot of the bucket's next element
  u32* const others = slots + in_lines(buckets);  // [buckets] elements of other parts in the bucket's first line
  const S sink(part, others + in_lines(buckets), buckets * per_line, stores);
  for (unsigned b = 0; b < buckets; ++b) {
    const size_t before = sink.before(next[b]);
    next[b] -= before;  // from here on, the index of the line's start; may wrap below 0, and back
    others[b] = static_cast<u32>(before);
    slots[b] = static_cast<u32>(b * per_line + before);
  }
  for (size_t at = part.begin; at < part.end;) {
    const Row<K, V> row = source.row(at, part.end);
#pragma GCC unroll 2
    for (size_t i = 0; i < row.n; ++i) {
      const K key = row.keys[i];
      const u32 b = bucket(at + i, key), slot = slots[b];
      slots[b] = slot + 1;
      sink.held.put(slot, key, row.values, i);
      if (HWY_LIKELY((slot + 1) % per_line != 0)) continue;
      const size_t first = b * per_line;
      if (const u32 skip = others[b]; HWY_UNLIKELY(skip)) {
        sink.some(first + skip, next[b] + skip, per_line - skip);
        others[b] = 0;
      } else {
        sink.line(first, next[b]);
      }
      next[b] += per_line;
      slots[b] = static_cast<u32>(first);
    }
    at += row.n;
  }
  for (unsigned b = 0; b < buckets; ++b) {
    const size_t first = b * per_line, skip = others[b], used = slots[b] - first;
    sink.some(first + skip, next[b] + skip, used - skip);
    next[b] += used;
  }
  sink.finish();
}

template <class Source, class Bucket>
void blocks(const Part& part, u64* next, const u32* counts, size_t block, Stores stores, void* scratch) {
  using K = typename Source::Key;
  using V = typename Source::Value;
  using S = Sink<K, V>;
  constexpr size_t per_line = S::per_line;
  Source source(part);
  const Bucket bucket(part);
  const unsigned buckets = part.buckets;
  const size_t padded = in_lines(buckets);
  u32* const ends = static_cast<u32*>(scratch);  // [buckets] current end of the bucket's run in the block
  u32* const held = ends + padded;               // [buckets] elements in the bucket's partial line
  u32* const others = held + padded;             // [buckets] how many of these belong to other parts
  const size_t waiting = block_slots(block, buckets, per_line);
  const S sink(part, others + padded, waiting + buckets * per_line, stores);
  for (unsigned b = 0; b < buckets; ++b) {
    held[b] = others[b] = static_cast<u32>(sink.before(next[b]));
    next[b] -= held[b];  // from here on, the index of the line's start; may wrap below 0, and back
  }
  for (size_t begin = part.begin; begin < part.end; begin += block, counts += padded) {
    u32 slot = 0;
    for (unsigned b = 0; b < buckets; ++b) {  // a run begins with the partial line
      sink.keep(waiting + b * per_line, slot);
      ends[b] = slot + held[b];
      slot += static_cast<u32>((held[b] + counts[b] + per_line - 1) / per_line * per_line);
    }
    const size_t end = std::min(part.end, begin + block);
    for (size_t at = begin; at < end;) {
      const Row<K, V> row = source.row(at, end);
#pragma GCC unroll 4
      for (size_t i = 0; i < row.n; ++i) {
        const K key = row.keys[i];
        sink.held.put(ends[bucket(at + i, key)]++, key, row.values, i);
      }
      at += row.n;
    }
    slot = 0;
    for (unsigned b = 0; b < buckets; ++b) {
      const u32 used = ends[b] - slot, whole = static_cast<u32>(used / per_line * per_line);
      u32 k = 0;
      if (const u32 skip = others[b]; HWY_UNLIKELY(skip) && whole) {
        sink.some(slot + skip, next[b] + skip, per_line - skip);
        others[b] = 0;
        k = per_line;
      }
      for (; k < whole; k += per_line) sink.line(slot + k, next[b] + k);
      sink.keep(slot + whole, waiting + b * per_line);
      next[b] += whole;
      held[b] = used - whole;
      slot += static_cast<u32>((used + per_line - 1) / per_line * per_line);
    }
  }
  for (unsigned b = 0; b < buckets; ++b) {
    sink.some(waiting + b * per_line + others[b], next[b] + others[b], held[b] - others[b]);
    next[b] += held[b];
  }
  sink.finish();
}

// Returns all loops for one source and one way to find a bucket.
template <class Source, class Bucket>
Loops loops_of() {
  return {&count<Source, Bucket>, &scatter<Source, Bucket>, &combine<Source, Bucket>, &blocks<Source, Bucket>};
}

}  // namespace upsweep::ladders::partition::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
