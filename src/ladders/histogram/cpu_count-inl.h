// The loops that find bins in vectors and count them. Compiled once per instruction set, inside Highway's
// foreach_target, so the include guard toggles.
#if defined(UPSWEEP_HISTOGRAM_CPU_COUNT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef UPSWEEP_HISTOGRAM_CPU_COUNT_INL_H
#undef UPSWEEP_HISTOGRAM_CPU_COUNT_INL_H
#else
#define UPSWEEP_HISTOGRAM_CPU_COUNT_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "cpu/each.h"
#include "ladders/histogram/binding.h"
#include "ladders/histogram/cpu_cores.h"
#include "ladders/histogram/cpu_simd.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::histogram::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<std::uint32_t>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
inline constexpr std::size_t most_lanes = hn::MaxLanes(D());
// The bins of 8-byte samples are found in 64-bit lanes, the bins of narrower samples in 32-bit lanes. Slots have 32
// bits.
using D64 = hn::ScalableTag<std::uint64_t>;
template <class T>
using LanesOf = std::conditional_t<sizeof(T) == 8, D64, D>;

// ---- bins -----------------------------------------------------------------------------------------------------------

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE auto scaled(auto d, const Scale& scale, auto distance) {
  return hn::Set(d, scale(static_cast<std::uint32_t>(hn::GetLane(distance))));
}
#else
// Applies Scale::operator() to the lower 32 bits of every lane.
HWY_INLINE hn::Vec<D64> scaled(D64, const Scale& scale, hn::Vec<D64> distance) {
  const D d;
  const V x = hn::BitCast(d, distance);
  const auto high = hn::MulEven(x, hn::Set(d, static_cast<std::uint32_t>(scale.factor >> 32)));
  const auto low = hn::MulEven(x, hn::Set(d, static_cast<std::uint32_t>(scale.factor)));
  return hn::ShiftRightSame(hn::Add(high, hn::ShiftRight<32>(low)), static_cast<int>(scale.shift_after_32));
}
// Even and odd lanes are computed separately, because the products of 32-bit lanes have 64 bits.
HWY_INLINE V scaled(D d, const Scale& scale, V distance) {
  const D64 wide;
  const auto pairs = hn::BitCast(wide, distance);
  const auto even = scaled(wide, scale, pairs), odd = scaled(wide, scale, hn::ShiftRight<32>(pairs));
  return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
}
#endif

// Calls f, which returns 64-bit lanes, for two consecutive vectors of samples, and packs the lower 32 bits of both.
template <class T>
HWY_INLINE V narrowed(D d, const T* from, auto&& f) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, static_cast<std::uint32_t>(hn::GetLane(f(from))));
#else
  return hn::ConcatEven(d, hn::BitCast(d, f(from + hn::Lanes(D64()))), hn::BitCast(d, f(from)));
#endif
}

template <class L, class T>
HWY_INLINE hn::Vec<L> load(L d, const T* from) {
  if constexpr (sizeof(T) == sizeof(hn::TFromD<L>))
    return hn::LoadU(d, reinterpret_cast<const hn::TFromD<L>*>(from));
  else
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, L>(), from));
}

// Returns the samples minus `first`, modulo 2 to the number of bits of T.
template <class L, class T>
HWY_INLINE hn::Vec<L> distance(L d, const T* from, T first) {
  const hn::Rebind<T, L> narrow;
  const auto difference = hn::Sub(hn::LoadU(narrow, from), hn::Set(narrow, first));
  if constexpr (sizeof(T) < 4)
    return hn::PromoteTo(d, difference);
  else
    return difference;
}

// Returns the samples in the form of Guide's edges: integers minus the first edge, floats unchanged.
template <class T>
HWY_INLINE auto for_guide(D d, const Guide& guide, const T* from) {
  if constexpr (std::is_floating_point_v<T>)
    return hn::LoadU(hn::Rebind<float, D>(), from);
  else
    return hn::Sub(hn::Xor(load(d, from), hn::Set(d, guide.sign)), hn::Set(d, guide.lower));
}

template <class T>
HWY_INLINE M outside_edges(D d, const Guide& guide, const T* from) {
  const auto x = for_guide(d, guide, from);
  if constexpr (std::is_floating_point_v<T>) {
    const hn::Rebind<float, D> df;
    const auto at_least = hn::Ge(x, hn::BitCast(df, hn::Set(d, guide.lower)));  // false for NaN
    return hn::Not(hn::RebindMask(d, hn::And(at_least, hn::Lt(x, hn::BitCast(df, hn::Set(d, guide.width))))));
  } else {
    return hn::Not(hn::Gt(hn::Set(d, guide.width), x));
  }
}

// Returns the bins of the lanes that are not `outside`; the other lanes are arbitrary.
template <class T>
HWY_INLINE V find_between_edges(D d, const Guide& guide, const T* from, M outside) {
  const hn::RebindToSigned<D> di;
  using Edge = std::conditional_t<std::is_floating_point_v<T>, float, std::uint32_t>;
  const hn::Rebind<Edge, D> de;
  const auto* const edges = reinterpret_cast<const Edge*>(guide.edges);
  auto x = for_guide(d, guide, from);
  V cell;
  if constexpr (std::is_floating_point_v<T>) {
    const auto lower = hn::BitCast(de, hn::Set(d, guide.lower));
    x = hn::IfThenElse(hn::RebindMask(de, outside), lower, x);
    const auto place = hn::Mul(hn::Sub(x, lower), hn::Set(de, guide.scale));
    cell = hn::Min(hn::BitCast(d, hn::ConvertTo(di, place)), hn::Set(d, guide.last_cell));
  } else {
    x = hn::IfThenZeroElse(outside, x);
    cell = hn::ShiftRightSame(x, guide.shift);
  }
  V bin = hn::GatherIndex(d, guide.first, hn::BitCast(di, cell));
  for (unsigned halving = guide.halvings; halving-- > 0;) {
    const V probe = hn::Add(bin, hn::Set(d, 1u << halving));
    const auto below = hn::Not(hn::Gt(hn::GatherIndex(de, edges, hn::BitCast(di, probe)), x));
    bin = hn::IfThenElse(hn::RebindMask(d, below), probe, bin);
  }
  return bin;
}

template <class L, class T, class O>
HWY_INLINE hn::Mask<L> outside_of(L d, const Bins<T, O>& bins, const Guide* guide, const T* from) {
  if constexpr (O::operation == Binning::edges) {
    return outside_edges(d, *guide, from);
  } else if constexpr (std::is_floating_point_v<T>) {
    const hn::Rebind<T, L> df;
    const auto x = hn::LoadU(df, from);
    const auto inside = hn::And(hn::Ge(x, hn::Set(df, bins.lower)), hn::Lt(x, hn::Set(df, bins.upper)));
    return hn::Not(hn::RebindMask(d, hn::Or(inside, hn::Eq(x, hn::Set(df, bins.included)))));
  } else if constexpr (O::operation == Binning::direct) {
    const auto x = load(d, from);
    return hn::Eq(hn::Max(x, hn::Set(d, bins.limit)), x);  // negative samples are large as unsigned numbers
  } else {
    return hn::Gt(distance(d, from, bins.first), hn::Set(d, bins.last));
  }
}

// Applies Bins::operator() to every lane. `shortcut` requires that no sample can be in doubt and that the last bin is
// half-open.
template <bool shortcut, class L, class T>
HWY_INLINE hn::Vec<L> bins_between_even_edges(L d, const Bins<T, By<Binning::even>>& bins, const T* from) {
  const hn::Rebind<T, L> df;
  const auto x = hn::LoadU(df, from), origin = hn::Set(df, bins.origin), whole = hn::Set(df, bins.whole);
  const auto shifted = hn::MulAdd(hn::Sub(x, origin), hn::Set(df, bins.scale), whole);
  const auto beyond = hn::Sub(x, hn::MulAdd(hn::Sub(shifted, whole), hn::Set(df, bins.step), origin));
  const auto edge = hn::Sub(hn::BitCast(d, shifted), hn::BitCast(d, whole));
  const auto bin = hn::Add(edge, hn::VecFromMask(d, hn::RebindMask(d, hn::Lt(beyond, hn::Zero(df)))));
  const auto found = hn::Min(bin, hn::Set(d, bins.count));
  if constexpr (shortcut) return found;
  if (bins.tolerance < 0) {  // exact edges, and a closed last bin
    const auto included = hn::RebindMask(d, hn::Eq(x, hn::Set(df, bins.included)));
    return hn::IfThenElse(included, hn::Set(d, bins.count - 1), found);
  }
  const auto in_doubt = hn::Le(hn::Abs(beyond), hn::Set(df, bins.tolerance));
  if (HWY_LIKELY(hn::AllFalse(df, in_doubt))) return found;
  HWY_ALIGN hn::TFromD<L> settled[hn::MaxLanes(L())];
  hn::Store(found, d, settled);
  std::uint64_t asked = 0;
  hn::StoreMaskBits(df, in_doubt, reinterpret_cast<std::uint8_t*>(&asked));
  for (; asked; asked &= asked - 1) {
    const auto k = static_cast<std::size_t>(std::countr_zero(asked));
    settled[k] = bins(from[k]);
  }
  return hn::Load(d, settled);
}

// Finds the slots of a row's samples, one vector per call. Keeps copies of its inputs: the counters' stores could alias
// a reference, so that the inputs would be reloaded for every vector.
template <bool shortcut, bool one_channel, class T, class O>
class Slots {
 public:
  HWY_INLINE Slots(const Input<T, O>& in, const Guide* guide, unsigned channel)
      : bins_(in.bins),
        scale_(scale_of(in.bins)),
        guide_(guide ? *guide : Guide{}),
        counters_(in.counters()),
        channel_(channel) {
    if (one_channel) return;
    channels_ = in.samples.channels;
    turn_ = static_cast<unsigned>(hn::Lanes(D()) % channels_);
    for (unsigned j = 0, channel = 0; j < most_lanes + 4; ++j) {
      first_slot_[j] = channel * in.bins.count;
      channel = channel + 1 == in.samples.channels ? 0 : channel + 1;
    }
  }
  // Returns the slots of a vector of samples, which follow those of the previous call.
  HWY_INLINE V operator()(D d, const T* from) {
    if constexpr (one_channel) return bins_or_count(d, from);  // slot `count` is for samples in no bin
    const V first = hn::LoadU(d, first_slot_ + channel_), none = hn::Set(d, counters_);
    channel_ += turn_;
    if (channel_ >= channels_) channel_ -= channels_;
    if constexpr (has_mask) {
      const M outside = outside_of(d, bins_, &guide_, from);
      return hn::IfThenElse(outside, none, hn::Add(bins_if_inside(d, from, outside), first));
    }
    const V bin = bins_or_count(d, from);
    return hn::IfThenElse(hn::Eq(bin, hn::Set(d, bins_.count)), none, hn::Add(bin, first));
  }
  // Returns the channel of the first sample of the next call.
  unsigned channel() const { return channel_; }

 private:
  static constexpr bool scales = O::operation == Binning::even && std::is_integral_v<T> && !shortcut;
  using ScaleIfAny = std::conditional_t<scales, Scale, std::nullptr_t>;

  static ScaleIfAny scale_of([[maybe_unused]] const Bins<T, O>& bins) {
    if constexpr (!scales)
      return nullptr;
    else if constexpr (sizeof(T) == 8)
      return Scale(bins.count, Wide{bins.scale.greatest} + 1);  // in_vectors() has ensured a width below 2^32
    else
      return bins.scale;
  }
  // True if bins are found with a mask of the samples outside all bins, in 32-bit lanes.
  static constexpr bool has_mask = O::operation == Binning::edges || sizeof(T) < 4 ||
                                   (O::operation == Binning::even && std::is_same_v<T, std::uint32_t>);

  // Applies Bins::operator() to every lane.
  template <class L>
  HWY_INLINE hn::Vec<L> bins_or_count(L d, const T* from) const {
    const auto count = hn::Set(d, bins_.count);
    if constexpr (sizeof(T) > sizeof(hn::TFromD<L>)) {
      return narrowed(d, from, [this](const T* half) HWY_ATTR { return bins_or_count(D64(), half); });
    } else if constexpr (O::operation == Binning::even && std::is_floating_point_v<T>) {
      return bins_between_even_edges<shortcut>(d, bins_, from);
    } else if constexpr (O::operation == Binning::direct && sizeof(T) >= 4) {
      return hn::Min(load(d, from), count);
    } else {
      const auto outside = outside_of(d, bins_, &guide_, from);
      if constexpr (O::operation == Binning::edges && one_channel)  // a search takes longer than a branch
        if (hn::AllTrue(d, outside)) return count;
      return hn::IfThenElse(outside, count, bins_if_inside(d, from, outside));
    }
  }
  // Returns the bins of the lanes that are not `outside`; the other lanes are arbitrary.
  template <class L>
  HWY_INLINE hn::Vec<L> bins_if_inside(L d, const T* from, [[maybe_unused]] hn::Mask<L> outside) const {
    if constexpr (O::operation == Binning::edges) {
      return find_between_edges(d, guide_, from, outside);
    } else if constexpr (O::operation == Binning::direct) {
      return load(d, from);
    } else {
      const auto above = hn::Add(distance(d, from, bins_.first), hn::Set(d, bins_.skipped));
      if constexpr (shortcut)
        return hn::ShiftRightSame(above, bins_.scale.as_shift);
      else
        return hn::Min(scaled(d, scale_, above), hn::Set(d, bins_.count - 1));  // the upper bound of a closed last bin
    }
  }

  const Bins<T, O> bins_;
  const ScaleIfAny scale_;
  const Guide guide_;
  const unsigned counters_;
  unsigned channel_, channels_ = 1, turn_ = 0;
  std::uint32_t first_slot_[one_channel ? 1 : most_lanes + 4];  // first slot of each channel, repeated
};

// ---- counting -------------------------------------------------------------------------------------------------------

// Counts n slots, a whole number of vectors.
HWY_INLINE void increment(const Tables& t, const std::uint32_t* slots, std::size_t n) {
  std::uint32_t* const a = t.counts;
  if constexpr (most_lanes < 4) {
    for (std::size_t k = 0; k < n; ++k) ++a[slots[k]];
    return;
  }
  // The pointers that t.copy(0) to t.copy(3) return, without their multiplications, which take 3 % of the time.
  const std::size_t apart = t.copies == 1 ? 0 : t.slots, next = t.copies == 4 ? 2 * apart : 0;
  std::uint32_t *const b = a + apart, *const c = a + next, *const e = b + next;
  for (std::size_t k = 0; k < n; k += 4) {  // two slots per load, because the counters need loads, too
    std::uint64_t pairs[2];
    std::memcpy(pairs, slots + k, sizeof pairs);
    ++a[pairs[0] & 0xffffffffu];
    ++b[pairs[0] >> 32];
    ++c[pairs[1] & 0xffffffffu];
    ++e[pairs[1] >> 32];
  }
}

// Returns the end of the run of samples equal to samples[i]: the exact end, so that the next vector starts with the
// next run.
template <class T>
HWY_INLINE std::size_t end_of_run(const T* samples, std::size_t i, std::size_t n) {
  using U = hwy::MakeUnsigned<T>;  // floats with equal bits are in the same bin
  const hn::ScalableTag<U> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto* const words = reinterpret_cast<const U*>(samples);
  const U first = words[i];
  const auto same = hn::Set(d, first);
  for (; n - i >= lanes; i += lanes)
    if (const auto other = hn::FindFirstTrue(d, hn::Ne(hn::LoadU(d, words + i), same)); other >= 0)
      return i + static_cast<std::size_t>(other);
  while (i < n && words[i] == first) ++i;
  return i;
}

template <class T, class O>
HWY_INLINE void count_last(const Input<T, O>& in, const T* samples, std::size_t n, unsigned channel, auto&& count) {
  for (std::size_t i = 0; i < n; ++i, channel = channel + 1 == in.samples.channels ? 0 : channel + 1) {
    const unsigned bin = in.bins(samples[i]);
    count(bin < in.bins.count ? channel * in.bins.count + bin : in.counters());
  }
}

// Slots found before they are counted: enough for the loop that finds slots to overlap the loop that counts them.
inline constexpr std::size_t waiting = 16 * most_lanes;
// Vectors that are not checked for a run after a run of a single vector. If a few bins have most samples, whether the
// lanes of a vector agree is random, and the branch would often be mispredicted.
inline constexpr unsigned most_unchecked = 32;

template <bool shortcut, bool one_channel, class T, class O>
void count_all_as(const Input<T, O>& in, const T* samples, std::size_t n, unsigned channel, Tables& t) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  Slots<shortcut, one_channel, T, O> slots_of(in, t.guide, channel);
  HWY_ALIGN std::uint32_t slots[waiting + most_lanes];
  std::size_t filled = 0, i = 0;
  std::size_t agreed = 0;  // samples just before this vector that were counted as runs
  unsigned unchecked = 0;
  constexpr std::size_t ahead = fetched_ahead / sizeof(T);
  while (n - i >= lanes) {
    // The hardware prefetcher keeps up with 8-byte samples, of which a vector is two lines: on a Zen 4, 2^24 of them in
    // direct bins take 6.6 ms without prefetching, 8.4 ms with one line prefetched per vector and 7.9 ms with two.
    if (sizeof(T) < 8) hwy::Prefetch(samples + i + ahead);
    const V slot = slots_of(d, samples + i);
    if (unchecked > 0) {
      --unchecked;
    } else if (const std::uint32_t first = hn::GetLane(slot); hn::AllTrue(d, hn::Eq(slot, hn::Set(d, first)))) {
      std::size_t next = i + lanes;
      if (one_channel && samples[i] == samples[next - 1]) next = end_of_run(samples, next - 1, n);
      t.counts[first] += static_cast<std::uint32_t>(next - i);
      agreed += next - i;
      i = next;
      continue;
    } else {
      if (agreed == lanes) unchecked = most_unchecked;
      agreed = 0;
    }
    hn::StoreU(slot, d, slots + filled);
    filled += lanes;
    i += lanes;
    if (filled >= waiting) {
      increment(t, slots, filled);
      filled = 0;
    }
  }
  increment(t, slots, filled);
  count_last(in, samples + i, n - i, slots_of.channel(), [&](unsigned slot) { ++t.counts[slot]; });
}

// Increments a counter unless it is full.
HWY_INLINE void count_open(Tables& t, unsigned slot) {
  if (!(t.bits[slot / 8] >> slot % 8 & 1)) return;
  ++t.counted;
  if (++t.counts[slot] < t.top) return;
  t.bits[slot / 8] &= static_cast<std::uint8_t>(~(1u << slot % 8));
  --t.open;
}

#if HWY_TARGET != HWY_SCALAR
// The 1024 bits of Tables::bits in eight registers, looked up by byte and bit. A byte shuffle uses the low four bits of
// an index up to 0x7f and yields 0 for a larger index. Indices start at 0x70 + byte and drop by 16 per table, so byte b
// hits table b / 16 and every later table. Table k holds block k of 16 bytes xor block k + 1, so that the later hits
// cancel.
class OpenBits {
 public:
  using D8 = hn::Repartition<std::uint8_t, D>;
  using V8 = hn::Vec<D8>;
  HWY_INLINE explicit OpenBits(const std::uint8_t* bits) {
    const D8 d;
    for (std::size_t k = 0; k < 7; ++k)
      tables_[k] = hn::Xor(hn::LoadDup128(d, bits + 16 * k), hn::LoadDup128(d, bits + 16 * (k + 1)));
    tables_[7] = hn::LoadDup128(d, bits + 16 * 7);
    alignas(16) static constexpr std::uint8_t powers[16] = {1, 2, 4, 8, 16, 32, 64, 128};
    powers_ = hn::LoadDup128(d, powers);
  }
  // Returns a vector that is nonzero in the lanes whose counter, 8 * byte + bit, is open. Bytes from 128 to 143 have no
  // open counter.
  HWY_INLINE V8 operator()(V8 byte, V8 bit) const {
    const D8 d;
    const V8 sixteen = hn::Set(d, 16);
    V8 index = hn::Add(byte, hn::Set(d, 0x70)), found = hn::TableLookupBytesOr0(tables_[0], index);
#pragma GCC unroll 7
    for (std::size_t k = 1; k < 8; ++k) {
      index = hn::Sub(index, sixteen);
      found = hn::Xor(found, hn::TableLookupBytesOr0(tables_[k], index));
    }
    return hn::And(found, hn::TableLookupBytesOr0(powers_, bit));
  }

 private:
  V8 tables_[8], powers_;
};
#endif

template <bool shortcut, bool one_channel, class T, class O>
void count_rare_as(const Input<T, O>& in, const T* samples, std::size_t n, unsigned channel, Tables& t) {
  std::size_t i = 0;
  std::uint64_t outside = 0;
#if HWY_TARGET != HWY_SCALAR
  const D d;
  const OpenBits::D8 d8;
  const hn::Repartition<std::uint16_t, D> d16;
  const std::size_t lanes = hn::Lanes(d), step = 4 * lanes;
  Slots<shortcut, one_channel, T, O> slots_of(in, t.guide, channel);
  const auto no_bin = hn::Set(d16, static_cast<std::uint16_t>(in.counters()));
  OpenBits open(t.bits);
  const auto next = [&](std::size_t k) HWY_ATTR { return slots_of(d, samples + i + k * lanes); };
  while (n - i >= step) {
    // A 16-bit lane gains at most 2 per step, so it cannot overflow in 32767 steps.
    const std::size_t stop = i + std::min<std::size_t>((n - i) / step, 32767) * step;
    auto in_none = hn::Zero(d16);
    for (; i < stop; i += step) {
      if constexpr (one_channel && O::operation == Binning::edges) {  // no search, only the outermost edges
        const auto no_edge = [&](std::size_t k)
                                 HWY_ATTR { return outside_edges(d, *t.guide, samples + i + k * lanes); };
        if (hn::AllTrue(d, hn::And(hn::And(no_edge(0), no_edge(1)), hn::And(no_edge(2), no_edge(3))))) {
          outside += step;
          continue;
        }
      }
      // Packs two 16-bit slots per 32-bit lane, then four byte indices and four bit indices. The order of the samples
      // does not matter.
      const V s0 = next(0), s1 = next(1), s2 = next(2), s3 = next(3);
      const auto a = hn::BitCast(d16, hn::Or(s0, hn::ShiftLeft<16>(s1)));
      const auto b = hn::BitCast(d16, hn::Or(s2, hn::ShiftLeft<16>(s3)));
      in_none =
          hn::Sub(in_none, hn::Add(hn::VecFromMask(d16, hn::Eq(a, no_bin)), hn::VecFromMask(d16, hn::Eq(b, no_bin))));
      const auto byte = hn::BitCast(d8, hn::Or(hn::ShiftRight<3>(a), hn::ShiftLeft<8>(hn::ShiftRight<3>(b))));
      const auto seven = hn::Set(d16, 7);
      const auto bit = hn::BitCast(d8, hn::Or(hn::And(a, seven), hn::ShiftLeft<8>(hn::And(b, seven))));
      const auto hit = hn::Ne(open(byte, bit), hn::Zero(d8));
      if (HWY_LIKELY(hn::AllFalse(d8, hit))) continue;
      HWY_ALIGN std::uint8_t bytes[4 * most_lanes], bits[4 * most_lanes];
      hn::Store(byte, d8, bytes);
      hn::Store(bit, d8, bits);
      std::uint64_t hits = 0;
      hn::StoreMaskBits(d8, hit, reinterpret_cast<std::uint8_t*>(&hits));
      const unsigned before = t.open;
      for (; hits; hits &= hits - 1) {
        const auto k = static_cast<unsigned>(std::countr_zero(hits));
        count_open(t, bytes[k] * 8u + bits[k]);
      }
      if (t.open != before) open = OpenBits(t.bits);
    }
    HWY_ALIGN std::uint16_t all[2 * most_lanes];
    hn::Store(in_none, d16, all);
    for (std::size_t k = 0; k < 2 * lanes; ++k) outside += all[k];
  }
  channel = slots_of.channel();
#endif
  count_last(in, samples + i, n - i, channel, [&](unsigned slot) {
    if (slot == in.counters())
      ++outside;
    else
      count_open(t, slot);
  });
  t.counts[in.counters()] += static_cast<std::uint32_t>(outside);
}

template <class T, class O>
void count_outside(const void* input, const void* memory, std::size_t n, unsigned, Tables& t) {
  const auto& in = *static_cast<const Input<T, O>*>(input);
  const auto* const samples = static_cast<const T*>(memory);
  const LanesOf<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto all = hn::Zero(d);
  std::size_t i = 0;
  for (; n - i >= lanes; i += lanes)
    all = hn::Sub(all, hn::VecFromMask(d, outside_of(d, in.bins, t.guide, samples + i)));
  std::uint32_t& counter = t.counts[in.counters()];
  counter += static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d, all)));
  for (; i < n; ++i) counter += in.bins(samples[i]) >= in.bins.count;
}

template <bool rare, class T, class O>
void count_row(const void* input, const void* memory, std::size_t n, unsigned channel, Tables& t) {
  const auto& in = *static_cast<const Input<T, O>*>(input);
  const auto* const samples = static_cast<const T*>(memory);
  const auto count = [&]<bool shortcut, bool one_channel>() HWY_ATTR {
    if constexpr (rare)
      count_rare_as<shortcut, one_channel>(in, samples, n, channel, t);
    else
      count_all_as<shortcut, one_channel>(in, samples, n, channel, t);
  };
  const bool one_channel = in.samples.channels == 1;
  if constexpr (O::operation == Binning::even)
    if (in.bins.has_shortcut())
      return one_channel ? count.template operator()<true, true>() : count.template operator()<true, false>();
  one_channel ? count.template operator()<false, true>() : count.template operator()<false, false>();
}

template <class O>
void find_bins(const void* input, const void* memory, std::size_t n, const Guide* guide, std::uint32_t* found) {
  const auto& in = *static_cast<const Input<std::uint8_t, O>*>(input);
  const auto* const samples = static_cast<const std::uint8_t*>(memory);
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  Slots<false, true, std::uint8_t, O> bins_of_next(in, guide, 0);
  std::size_t i = 0;
  for (; n - i >= lanes; i += lanes) hn::StoreU(bins_of_next(d, samples + i), d, found + i);
  for (; i < n; ++i) found[i] = in.bins(samples[i]);
}

// Counts the values of a group of 12 bytes: a whole number of pixels and of rounds of the four copies.
template <unsigned channels>
HWY_INLINE void count_group(const std::uint8_t* samples, std::uint32_t* const (&copies)[4]) {
  std::uint8_t group[12];
  std::copy_n(samples, 12, group);  // the compiler must assume that counters alias `samples`
#pragma GCC unroll 12
  for (unsigned j = 0; j < 12; ++j) ++copies[j % 4][j % channels * 256 + group[j]];
}

template <unsigned channels>
void count_values_of(const std::uint8_t* samples, std::size_t n, unsigned channel, const Tables& t) {
  std::uint32_t* const counts = t.counts;
  std::uint32_t* const copies[4] = {t.copy(0), t.copy(1), t.copy(2), t.copy(3)};
  std::size_t i = 0;
  const auto single = [&] {
    ++counts[channel * 256 + samples[i++]];
    channel = (channel + 1) % channels;
  };
  while (i < n && channel != 0) single();
  // Groups between two checks for a run: 1 after a run, then growing to 5.
  std::size_t groups = 5;
  while (n - i >= 60) {
    if constexpr (channels == 1) {
      const hn::ScalableTag<std::uint8_t> d;
      bool found = false;
      while (n - i >= hn::Lanes(d) && hn::AllTrue(d, hn::Eq(hn::LoadU(d, samples + i), hn::Set(d, samples[i])))) {
        const std::size_t end = end_of_run(samples, i, n);
        counts[samples[i]] += static_cast<std::uint32_t>(end - i);
        i = end;
        found = true;
      }
      groups = found ? 1 : std::min<std::size_t>(groups + 1, 5);
    }
    for (const std::size_t stop = i + std::min((n - i) / 12, groups) * 12; i < stop; i += 12)
      count_group<channels>(samples + i, copies);
  }
  while (i < n) single();
}

template <class O>
void count_values(const void* input, const void* memory, std::size_t n, unsigned channel, Tables& t) {
  const auto* const samples = static_cast<const std::uint8_t*>(memory);
  switch (static_cast<const Input<std::uint8_t, O>*>(input)->samples.channels) {
    case 1:
      return count_values_of<1>(samples, n, channel, t);
    case 2:
      return count_values_of<2>(samples, n, channel, t);
    case 3:
      return count_values_of<3>(samples, n, channel, t);
    default:
      return count_values_of<4>(samples, n, channel, t);
  }
}

template <class T, class O>
RowLoops loops_of() {
  if constexpr (!Binding::takes<T, O> || !std::is_same_v<T, Stored<T>>)
    return {};
  else if constexpr (sizeof(T) == 1)
    return {&count_values<O>, nullptr, nullptr, &find_bins<O>, true};
  else
    return {&count_row<false, T, O>, &count_row<true, T, O>, &count_outside<T, O>, nullptr, false};
}

// Returns the loops for samples of 8 bytes if `wide`, otherwise for narrower samples; none for the other widths.
template <class O, bool wide = false>
RowLoops loops_of(Type type) {
  return visit(type, []<class T>(TypeTag<T>) -> RowLoops {
    if constexpr ((sizeof(T) == 8) == wide)
      return loops_of<T, O>();
    else
      return {};
  });
}

}  // namespace upsweep::ladders::histogram::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggling guard
