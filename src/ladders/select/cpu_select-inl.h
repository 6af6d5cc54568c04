// The loops of select's CPU rungs over a part of the input. Compiled once per instruction set, inside Highway's
// foreach_target, so the include guard toggles.
//
// The loops compress in a register, then store: on Zen 4, a compress to memory takes 72 cycles, these two instructions
// 2 each. A masked store is no slower than a full one: with half of an i32 array in cache selected, 11.1 G elements/s
// masked and 10.1 full.
#if defined(UPSWEEP_SELECT_CPU_SELECT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef UPSWEEP_SELECT_CPU_SELECT_INL_H
#undef UPSWEEP_SELECT_CPU_SELECT_INL_H
#else
#define UPSWEEP_SELECT_CPU_SELECT_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "base/unsigned_as.h"
#include "ladders/scan/cpu_slide-inl.h"
#include "ladders/select/binding.h"
#include "ladders/select/cpu_lines-inl.h"
#include "ladders/select/cpu_simd.h"

#ifndef UPSWEEP_SELECT_SET_BITS
#define UPSWEEP_SELECT_SET_BITS  // once, not per instruction set
namespace upsweep::ladders::select {
// Byte k of set_bits[bits] is the position of the k-th set bit. One word per mask of 8 lanes: 2 KiB.
inline constexpr std::array<std::uint64_t, 256> set_bits = [] {
  std::array<std::uint64_t, 256> all{};
  for (unsigned bits = 0; bits < all.size(); ++bits)
    for (unsigned bit = 0, k = 0; bit < 8; ++bit)
      if (bits >> bit & 1) all[bits] |= std::uint64_t{bit} << 8 * k++;
  return all;
}();
}  // namespace upsweep::ladders::select
#endif

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::select::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using scan::HWY_NAMESPACE::slide, scan::HWY_NAMESPACE::Wide;
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Elements per row: their mask bits fill a word.
constexpr std::size_t row = 64;
// Elements per chunk: its intermediate positions (4 KiB) stay in L1, as do elements that are counted before they are
// moved.
constexpr std::size_t chunk = 1024;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr bool masked_stores = true;  // a masked store does not touch the memory of the other lanes
#else
constexpr bool masked_stores = false;
#endif

// ---- which elements -------------------------------------------------------------------------------------------------

template <class D>
HWY_INLINE u64 bits_of(D d, hn::Mask<D> mask) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // GCC 12 widens the 8-bit mask of a compare to 64 bits, spills one byte of it and reloads eight (seen around calls of
  // the thread sanitizer). A value that passes through an empty asm keeps its declared width.
  if constexpr (hn::MaxLanes(D()) < 64) {
    u32 bits = mask.raw;
    asm("" : "+r"(bits));
    return bits;
  }
#endif
  u64 bits = 0;
  hn::StoreMaskBits(d, mask, reinterpret_cast<u8*>(&bits));
  return bits;
}
template <class D>
HWY_INLINE std::size_t count_of(D d, hn::Mask<D> mask) {
  return hwy::PopCount(bits_of(d, mask));
}
template <class D>
HWY_INLINE hn::Mask<D> mask_of(D d, u64 bits) {
  return hn::LoadMaskBits(d, reinterpret_cast<const u8*>(&bits));
}

// Widens bytes to the lanes of `du`.
template <class DU>
HWY_INLINE hn::Vec<DU> widened(DU du, hn::Vec<hn::Rebind<u8, DU>> bytes) {
  if constexpr (sizeof(hn::TFromD<DU>) == 1)
    return bytes;
  else if constexpr (sizeof(hn::TFromD<DU>) == 8)
    return hn::PromoteTo(du, hn::PromoteTo(hn::Rebind<u32, DU>(), bytes));
  else
    return hn::PromoteTo(du, bytes);
}

// Returns the mask of lanes whose flags are nonzero.
template <class D>
HWY_INLINE hn::Mask<D> flagged(D d, const u8* flags) {
  const hn::RebindToUnsigned<D> du;
  return hn::RebindMask(d, hn::Ne(widened(du, hn::LoadU(hn::Rebind<u8, D>(), flags)), hn::Zero(du)));
}

template <class T>
constexpr T other_than(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::quiet_NaN();
  else
    return static_cast<T>(x ^ 1);
}

// Calls f(vector, mask, k) for each vector of the row that begins at element i, where k is the vector's offset in the
// row. The mask marks selected elements; for nonzero, elements equal to 0; for find_repeats, elements equal to their
// predecessors, except that the row's first bit is meaningless.
template <class T, class O, class F>
HWY_INLINE void for_each_vector(const Input<T, O>& in, std::size_t i, F&& f) {
  const Wide<T> d;
  constexpr std::size_t width = hn::MaxLanes(Wide<T>());
  const T* const x = in.values + i;
  [[maybe_unused]] auto left = hn::Zero(d);
  if constexpr (starts_runs<O>) left = hn::Set(d, i ? x[-1] : other_than(x[0]));
  HWY_UNROLL(8)  // fully, if vectors are wide; unrolling more only slows down the compiler
  for (std::size_t k = 0; k < row; k += width) {
    const auto here = hn::LoadU(d, x + k);
    if constexpr (has_predicate<O>) {
      f(here, hn::Lt(here, hn::Set(d, in.predicate.limit)), k);
    } else if constexpr (reads_flags<O>) {
      f(here, flagged(d, in.flags + i + k), k);
    } else if constexpr (compares_with_zero<O>) {
      f(here, hn::Eq(here, hn::Zero(d)), k);
    } else {
      const auto equal = hn::Eq(here, slide<1>(d, here, left));
      f(here, sees_next<O> ? equal : hn::Not(equal), k);
      left = here;
    }
  }
}

// Returns a mask of the row's selected elements, for operations that write positions and no values.
template <class T, class O>
HWY_INLINE u64 selected_in_row(const Input<T, O>& in, std::size_t i) {
  u64 equal = 0;
  for_each_vector(in, i, [&](auto, auto mask, std::size_t k) HWY_ATTR { equal |= bits_of(Wide<T>(), mask) << k; });
  // Complement once per row, not once per vector. Not by hn::Ne(), which is false for NaN on some targets.
  if constexpr (compares_with_zero<O>) return ~equal;
  const T* const next = in.values + i + row;
  return equal >> 1 | u64{i + row < in.n && next[-1] == next[0]} << 63;
}

// True if all flags of the row are 0, so that its elements need not be loaded. False for operations without flags.
template <class T, class O>
HWY_INLINE bool skipped(const Input<T, O>& in, std::size_t i) {
  if constexpr (reads_flags<O>) {
    const Wide<u8> d;
    auto any = hn::Zero(d);
    for (std::size_t k = 0; k < row; k += hn::MaxLanes(d)) any = hn::Or(any, hn::LoadU(d, in.flags + i + k));
    return hn::AllTrue(d, hn::Eq(any, hn::Zero(d)));
  }
  return false;
}

// ---- output ---------------------------------------------------------------------------------------------------------

// An array written from front to back, in whole vectors while they fit, and never past its end. Null if never written.
template <class T>
class Sink {
 public:
  Sink(T* begin, std::size_t room) : at_(begin), end_(begin ? begin + room : nullptr) {}
  // Stores the first `count` lanes.
  template <class D>
  HWY_INLINE void put(D d, hn::Vec<D> v, std::size_t count) {
    if constexpr (masked_stores) {
      hn::BlendedStore(v, hn::FirstN(d, count), d, at_);
    } else if (HWY_LIKELY(static_cast<std::size_t>(end_ - at_) >= hn::Lanes(d))) {
      hn::StoreU(v, d, at_);
    } else {
      HWY_ALIGN T lanes[hn::MaxLanes(d)];
      hn::Store(v, d, lanes);
      std::copy_n(lanes, count, at_);
    }
    at_ += count;
  }
  HWY_INLINE void put(T value) { *at_++ = value; }
  T* at() const { return at_; }

 private:
  T *at_, *end_;
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Appends the lanes that the mask selects. For 64-bit lanes, Highway 1.0.3 looks up indices in a table, which GCC 12
// copies to the stack for every vector: 315 M elements/s, against 5000 M with the compress instruction.
template <class D, class T>
HWY_INLINE void put_selected(D d, hn::Vec<D> v, hn::Mask<D> mask, Sink<T>& out) {
  hn::Vec<D> together;
  if constexpr (sizeof(T) == 8) {
    const hn::RebindToUnsigned<D> du;
    together = hn::BitCast(d, hn::Vec<decltype(du)>{_mm512_maskz_compress_epi64(mask.raw, hn::BitCast(du, v).raw)});
  } else {
    together = hn::Compress(v, mask);
  }
  out.put(d, together, count_of(d, mask));
}
#else
// Appends the lanes that the mask selects, without a compress instruction: permutes up to 8 elements at a time by
// indices from set_bits.
template <class D, class T>
HWY_INLINE void put_selected(D d, hn::Vec<D> v, hn::Mask<D> mask, Sink<T>& out) {
  const hn::CappedTag<T, 8> some;
  const hn::RebindToUnsigned<decltype(some)> unsigned_lanes;
  constexpr std::size_t width = hn::MaxLanes(hn::CappedTag<T, 8>());
  HWY_ALIGN T lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  u64 bits = bits_of(d, mask);
  for (std::size_t k = 0; k < hn::MaxLanes(d); k += width, bits >>= width) {
    const u64 chosen = bits & ((1 << width) - 1);
    auto group = hn::Load(some, lanes + k);
    if constexpr (width > 1) {
      const auto indices = widened(
          unsigned_lanes, hn::LoadU(hn::Rebind<u8, decltype(some)>(), reinterpret_cast<const u8*>(&set_bits[chosen])));
      if constexpr (sizeof(T) == 1) {
        group = hn::TableLookupBytes(group, hn::BitCast(some, indices));
      } else if constexpr (sizeof(T) == 2) {  // both bytes of each element
        const auto bytes = hn::Add(hn::Mul(indices, hn::Set(unsigned_lanes, 0x0202)), hn::Set(unsigned_lanes, 0x0100));
        group = hn::TableLookupBytes(group, hn::BitCast(some, bytes));
      } else {
        group = hn::TableLookupLanes(group, hn::IndicesFromVec(some, indices));
      }
    }
    out.put(some, group, hwy::PopCount(chosen));
  }
}
#endif

// Appends base + the position of each set bit of the word.
HWY_INLINE void put_positions(u64 word, u32 base, Sink<u32>& out) {
  const Wide<u32> d;
  constexpr std::size_t width = hn::MaxLanes(Wide<u32>());
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
  const Wide<u8> bytes;
  const hn::Half<decltype(bytes)> half;
  const hn::Half<decltype(half)> quarter;
  const auto numbers = hn::Compress(hn::Iota(bytes, 0), mask_of(bytes, word));
  const auto first = hn::Set(d, base);
  std::size_t count = hwy::PopCount(word);
  const auto put = [&](auto some) HWY_ATTR {
    out.put(d, hn::Add(first, hn::PromoteTo(d, some)), std::min(count, width));
    return count > width ? (count -= width, true) : false;
  };
  const auto low = hn::LowerHalf(half, numbers), high = hn::UpperHalf(half, numbers);
  put(hn::LowerHalf(quarter, low)) && put(hn::UpperHalf(quarter, low)) && put(hn::LowerHalf(quarter, high)) &&
      put(hn::UpperHalf(quarter, high));
#else
  for (std::size_t k = 0; k < row; k += width)
    put_selected(d, hn::Add(hn::Iota(d, 0), hn::Set(d, base + static_cast<u32>(k))), mask_of(d, word >> k), out);
#endif
}

// ---- parts ----------------------------------------------------------------------------------------------------------

template <class T, class O>
Found count_in(const Input<T, O>& in, std::size_t begin, std::size_t end) {
  Found found;
  std::size_t i = begin;
  for (; i + row <= end; i += row) {
    if constexpr (writes_positions<O>) {
      found.count += hwy::PopCount(selected_in_row(in, i));
    } else if constexpr (writes_lengths<O>) {
      u64 heads = 0;
      for_each_vector(in, i, [&](auto, auto mask, std::size_t k) HWY_ATTR { heads |= bits_of(Wide<T>(), mask) << k; });
      if (heads) found = {found.count + hwy::PopCount(heads), i + 63 - hwy::Num0BitsAboveMS1Bit_Nonzero64(heads)};
    } else {
      for_each_vector(in, i, [&](auto, auto mask, std::size_t) HWY_ATTR { found.count += count_of(Wide<T>(), mask); });
    }
  }
  for (; i < end; ++i)
    if (in.selects(i)) found = {found.count + 1, i};
  return found;
}

// Selects from elements [begin, end), at most a chunk: values go to `values`, the other elements of partition_if to
// `others`, positions and lengths to their array. `before` is the selection so far; returns it plus that of the chunk.
template <class T, class O>
HWY_INLINE Found select_chunk(const Args<T, O>& a, std::size_t begin, std::size_t end, Found before, T* values,
                              T* others) {
  constexpr bool by_position = needs_positions<O>, by_value = writes_values<O>, both = writes_rest<O>;
  const Wide<T> d;
  const std::size_t room = masked_stores ? 0 : count_in(a.in, begin, end).count;
  Sink<T> out(values, room), rest(others, end - begin - room);
  // 32-bit positions go straight to the output. Wide positions, and those that lengths are computed from, are first
  // kept relative to `begin`.
  HWY_ALIGN u32 relative[by_position ? chunk : 1];
  const bool straight = writes_positions<O> && !a.out.positions.wide;
  u32* const first = straight ? static_cast<u32*>(a.out.positions.array) + before.count : relative;
  const u32 origin = static_cast<u32>(straight ? 0 : begin);
  Sink<u32> positions(first, room);

  std::size_t i = begin;
  for (; i + row <= end; i += row) {
    if (skipped(a.in, i)) continue;
    [[maybe_unused]] u64 word = 0;
    if constexpr (writes_positions<O>)
      word = selected_in_row(a.in, i);
    else
      for_each_vector(a.in, i, [&](auto v, auto mask, std::size_t k) HWY_ATTR {
        put_selected(d, v, mask, out);
        if constexpr (both) put_selected(d, v, hn::Not(mask), rest);
        if constexpr (by_position) word |= bits_of(d, mask) << k;
      });
    if constexpr (by_position) put_positions(word, static_cast<u32>(i) - origin, positions);
  }
  for (; i < end; ++i) {
    if (a.in.selects(i)) {
      if constexpr (by_value) out.put(a.in.values[i]);
      if constexpr (by_position) positions.put(static_cast<u32>(i) - origin);
    } else if constexpr (both) {
      rest.put(a.in.values[i]);
    }
  }

  if constexpr (!by_position) return {before.count + static_cast<std::size_t>(out.at() - values), 0};
  const auto count = static_cast<std::size_t>(positions.at() - first);
  if (straight || count == 0) return {before.count + count, before.last};
  const auto last = begin + relative[count - 1];
  const auto settle = [&]<class P>(P* array) HWY_ATTR {
    if constexpr (writes_positions<O>) {
      for (std::size_t k = 0; k < count; ++k) array[k] = static_cast<P>(begin + relative[k]);
    } else {  // a run ends where the next begins
      if (before.count > 0) array[-1] = static_cast<P>(begin + relative[0] - before.last);
      for (std::size_t k = 0; k + 1 < count; ++k) array[k] = relative[k + 1] - relative[k];
    }
  };
  if (a.out.positions.wide)
    settle(static_cast<u64*>(a.out.positions.array) + before.count);
  else
    settle(static_cast<u32*>(a.out.positions.array) + before.count);
  return {before.count + count, last};
}

template <template <class, std::size_t> class Writer, class T, class O>
Found select_chunks(const Args<T, O>& a, std::size_t begin, std::size_t end, Found before, std::size_t total) {
  Writer<T, chunk> values(a.out.values ? a.out.values + before.count : nullptr);
  for (std::size_t i = begin; i < end; i += chunk) {
    T* const others = writes_rest<O> ? a.out.values + (total + i - before.count) : nullptr;
    const Found with = select_chunk(a, i, std::min(i + chunk, end), before, values.end(), others);
    values.added(with.count - before.count);
    before = with;
  }
  return before;
}

template <class T, class O>
Found count_part(const Call& c, std::size_t begin, std::size_t end) {
  return count_in(Binding::args<T, O>(c).in, begin, end);
}

template <class T, class O>
Found select_part(const Call& c, std::size_t begin, std::size_t end, Found before, std::size_t total, Stores stores) {
  const Args<T, O> a = Binding::args<T, O>(c);
  // Non-temporal stores do not pay if two arrays are written: run_length_encode of i32 at 2^25 takes 10.1 ms with them
  // and 9.6 without; partition_if of i64, 27 and 24.
  if constexpr (writes_values<O> && !writes_lengths<O> && !writes_rest<O>)
    if (stores == Stores::around) return select_chunks<Lines>(a, begin, end, before, total);
  return select_chunks<Straight>(a, begin, end, before, total);
}

// The type that the loops use for elements: the unsigned integer of T's width; or T itself, if elements are compared
// with a limit, or are floats and tested for equality.
template <class T, class O>
using Moved =
    std::conditional_t<has_predicate<O> || (std::is_floating_point_v<T> && !reads_flags<O>), T, UnsignedAs<T>>;

template <Selection s>
PartLoops loops_of(Type type) {
  return visit(type, []<class T>(TypeTag<T>) {
    using E = Moved<T, Select<s>>;
    return PartLoops{&count_part<E, Select<s>>, &select_part<E, Select<s>>};
  });
}

}  // namespace upsweep::ladders::select::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
