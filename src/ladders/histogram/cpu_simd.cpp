// histogram/simd: one core; bins are computed in vectors, and counted in four tables.
//
// Vectors cannot increment counters, but they find the bins, and see where there is little to count: a vector whose
// lanes are in one bin is one addition, and once a saturating counter is full, its samples are dropped before they are
// counted (cpu_cores.h decides when). Samples of a byte need no bins: their 256 values are counted.
//
// Compiled once for each instruction set and chosen at run time by Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/histogram/cpu_simd.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)  // the same code as SSE4 and AVX3 here: half the compile time
#include "ladders/histogram/cpu_simd.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "ladders/histogram/binding.h"
#include "ladders/histogram/cpu_cores.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::histogram::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<std::uint32_t>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
inline constexpr std::size_t most_lanes = hn::MaxLanes(D());
// Two vectors of 64 bytes hold the bits of most_watched counters, and AVX-512 compresses in one instruction. With
// vectors of 32 bytes, looking up a sample's bit takes as long as counting it: 0.63 and 0.56 ns (Zen 3).
#undef UPSWEEP_LOOKS_UP_BITS
#define UPSWEEP_LOOKS_UP_BITS (HWY_MAX_BYTES >= 64)

// ---- bins -----------------------------------------------------------------------------------------------------------

struct VectorBins {
  V bin;  // any number in the lanes outside
  M outside;
};

// Scale::operator() in every lane: even lanes and odd ones apart, because products of 32 bits have 64.
HWY_INLINE V scaled(D d, const Scale& scale, V distance) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, scale(hn::GetLane(distance)));
#else
  const hn::Repartition<std::uint64_t, D> wide;
  const V high = hn::Set(d, static_cast<std::uint32_t>(scale.factor >> 32));
  const V low = hn::Set(d, static_cast<std::uint32_t>(scale.factor));
  const auto every_other = [&](V x) HWY_ATTR {
    const auto sum = hn::Add(hn::MulEven(x, high), hn::ShiftRight<32>(hn::MulEven(x, low)));
    return hn::ShiftRightSame(sum, static_cast<int>(scale.shift_after_32));
  };
  const auto even = every_other(distance);
  const auto odd = every_other(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, distance))));
  return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
#endif
}

// A binary search without branches, in which searches for several samples overlap.
template <class T>
HWY_INLINE unsigned find_bin(const Bins<T, By<Binning::edges>>& bins, T x) {
  const T* edge = bins.edges;
  for (unsigned left = bins.count; left > 1;) {
    const unsigned half = left / 2;
    edge += half * static_cast<unsigned>(edge[half] <= x);
    left -= half;
  }
  return static_cast<unsigned>(edge - bins.edges);
}

template <class T>
HWY_INLINE V load(D d, const T* from) {
  if constexpr (sizeof(T) == 4)
    return hn::BitCast(
        d, hn::LoadU(hn::RebindToUnsigned<hn::Rebind<T, D>>(), reinterpret_cast<const std::uint32_t*>(from)));
  else
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), from));
}

template <bool shifts, class T, class O>
HWY_INLINE VectorBins bins_of(D d, const Bins<T, O>& bins, const T* from) {
  if constexpr (O::binning == Binning::edges) {
    HWY_ALIGN std::uint32_t found[most_lanes];
    for (std::size_t j = 0; j < hn::Lanes(d); ++j) {
      const T x = from[j];
      found[j] = x >= bins.edges[0] && x < bins.edges[bins.count] ? find_bin(bins, x) : bins.count;
    }
    const V bin = hn::Load(d, found);
    return {bin, hn::Eq(bin, hn::Set(d, bins.count))};
  } else if constexpr (std::is_floating_point_v<T>) {
    const hn::Rebind<float, D> df;
    const hn::RebindToSigned<D> di;
    const auto x = hn::LoadU(df, from);
    const auto lower = hn::Set(df, bins.lower);
    const auto inside = hn::And(hn::Ge(x, lower), hn::Lt(x, hn::Set(df, bins.upper)));
    const V bin = hn::BitCast(d, hn::ConvertTo(di, hn::Mul(hn::Sub(x, lower), hn::Set(df, bins.scale))));
    return {hn::Min(bin, hn::Set(d, bins.count - 1)), hn::Not(hn::RebindMask(d, inside))};
  } else if constexpr (O::binning == Binning::direct) {
    const V x = load(d, from);
    return {x, hn::Not(hn::Gt(hn::Set(d, bins.count), x))};  // a negative one is large
  } else {
    const V distance = hn::Sub(load(d, from), hn::Set(d, bins.first));
    const M outside = hn::Gt(distance, hn::Set(d, bins.last));
    const V all = hn::Add(distance, hn::Set(d, bins.skipped));
    if constexpr (shifts)
      return {hn::ShiftRightSame(all, bins.scale.as_shift), outside};
    else
      return {scaled(d, bins.scale, all), outside};
  }
}

// The slots of the lanes' samples, the first of which belongs to `channel`.
template <class T, class O>
class Slots {
 public:
  explicit Slots(const Input<T, O>& in) : in_(in) {
    for (unsigned j = 0; j < most_lanes + 4; ++j) first_slot_[j] = j % in.samples.channels * in.bins.count;
  }
  template <bool shifts>
  HWY_INLINE V operator()(D d, const T* from, unsigned channel, M& outside) const {
    VectorBins found = bins_of<shifts>(d, in_.bins, from);
    if (in_.samples.channels > 1) found.bin = hn::Add(found.bin, hn::LoadU(d, first_slot_ + channel));
    outside = found.outside;
    return hn::IfThenElse(outside, hn::Set(d, in_.counters()), found.bin);
  }

 private:
  const Input<T, O>& in_;
  std::uint32_t first_slot_[most_lanes + 4];  // of the channels, repeated
};

// ---- counting -------------------------------------------------------------------------------------------------------

// Any number of slots, or, unless `any`, whole vectors of them.
template <bool any>
HWY_INLINE void increment(const Tables& t, const std::uint32_t* slots, std::size_t n) {
  std::uint32_t* const a = t.counts;
  if (t.copies == 1) {
    for (std::size_t k = 0; k < n; ++k) ++a[slots[k]];
    return;
  }
  std::uint32_t *const b = a + t.slots, *const c = b + t.slots, *const e = c + t.slots;
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    ++a[slots[k]];
    ++b[slots[k + 1]];
    ++c[slots[k + 2]];
    ++e[slots[k + 3]];
  }
  if constexpr (any || most_lanes < 4)
    for (; k < n; ++k) ++a[slots[k]];
}

// Slots that wait to be counted: enough that the loop that finds them and the loop that counts them overlap.
inline constexpr std::size_t waiting = 16 * most_lanes;

template <bool live, bool shifts, class T, class O>
void count_row_as(const Input<T, O>& in, const T* samples, std::size_t n, unsigned channel, Tables& t) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const unsigned channels = in.samples.channels, turn = static_cast<unsigned>(lanes % channels);
  const Slots<T, O> slots_of(in);
  HWY_ALIGN std::uint32_t slots[waiting + most_lanes];
  std::size_t filled = 0, i = 0;
#if UPSWEEP_LOOKS_UP_BITS
  constexpr std::size_t vectors = most_watched / 32 / most_lanes;
  V full[live ? vectors : 1];
  if constexpr (live)
    for (std::size_t r = 0; r < vectors; ++r) full[r] = hn::Load(d, t.full + r * lanes);
  [[maybe_unused]] const M wanted = hn::Eq(hn::Set(d, t.outside_wanted), hn::Set(d, 1));
#endif
  for (; n - i >= lanes; i += lanes) {
    M outside;
    const V slot = slots_of.template operator()<shifts>(d, samples + i, channel, outside);
    if (channels > 1) channel = (channel + turn) % channels;
    if constexpr (live) {
#if UPSWEEP_LOOKS_UP_BITS
      // The bit of every lane's slot, from `full` in registers.
      const V word = hn::ShiftRight<5>(slot), within = hn::And(word, hn::Set(d, static_cast<unsigned>(lanes - 1)));
      V bits = hn::TableLookupLanes(full[0], hn::IndicesFromVec(d, within));
      for (std::size_t r = 1; r < vectors; ++r) {
        const M here = hn::Eq(hn::Sub(word, within), hn::Set(d, static_cast<unsigned>(r * lanes)));
        bits = hn::IfThenElse(here, hn::TableLookupLanes(full[r], hn::IndicesFromVec(d, within)), bits);
      }
      const V bit = hn::And(hn::Shr(bits, hn::And(slot, hn::Set(d, 31))), hn::Set(d, 1));
      const M counts = hn::Or(hn::And(outside, wanted), hn::AndNot(outside, hn::Eq(bit, hn::Zero(d))));
      // Compressed in a register: a compressing store takes 72 cycles on a Zen 4.
      hn::StoreU(hn::Compress(slot, counts), d, slots + filled);
      filled += hn::CountTrue(d, counts);
#endif
    } else {
      const std::uint32_t first = hn::GetLane(slot);
      if (hn::AllTrue(d, hn::Eq(slot, hn::Set(d, first)))) {
        t.counts[first] += static_cast<std::uint32_t>(lanes);
        continue;
      }
      hn::StoreU(slot, d, slots + filled);
      filled += lanes;
    }
    if (filled >= waiting) {
      increment<live>(t, slots, filled);
      filled = 0;
    }
  }
  increment<live>(t, slots, filled);
  for (; i < n; ++i, channel = (channel + 1) % channels) {
    const unsigned bin = in.bins(samples[i]);
    ++t.counts[bin < in.bins.count ? channel * in.bins.count + bin : in.counters()];
  }
}

template <class T, class O, bool live>
void count_row(const void* input, const void* samples, std::size_t n, unsigned channel, Tables& t) {
  const auto& in = *static_cast<const Input<T, O>*>(input);
  if constexpr (std::is_integral_v<T> && O::binning == Binning::even)
    if (in.bins.scale.as_shift >= 0) return count_row_as<live, true>(in, static_cast<const T*>(samples), n, channel, t);
  count_row_as<live, false>(in, static_cast<const T*>(samples), n, channel, t);
}

// The values of bytes, in whole groups of 12 samples: a whole number of pixels, and of copies.
template <unsigned channels>
HWY_INLINE void count_group(const std::uint8_t* samples, std::uint32_t* counts) {
  constexpr unsigned copy = 256 * channels;
  std::uint8_t group[12];
  std::copy_n(samples, 12, group);  // the counters' stores could change `samples`, for all the compiler knows
#pragma GCC unroll 12
  for (unsigned j = 0; j < 12; ++j) ++counts[j % 4 * copy + j % channels * 256 + group[j]];
}

template <unsigned channels>
void count_values_of(const std::uint8_t* samples, std::size_t n, unsigned channel, const Tables& t) {
  std::uint32_t* const counts = t.counts;
  std::size_t i = 0;
  const auto single = [&] {
    ++counts[channel * 256 + samples[i++]];
    channel = (channel + 1) % channels;
  };
  while (i < n && channel != 0) single();
  while (n - i >= 60) {
    if constexpr (channels == 1) {  // runs
      const hn::ScalableTag<std::uint8_t> d;
      const std::size_t lanes = hn::Lanes(d);
      const std::uint8_t first = samples[i];
      const auto same = hn::Set(d, first);
      std::size_t end = i;
      while (n - end >= lanes && hn::AllTrue(d, hn::Eq(hn::LoadU(d, samples + end), same))) end += lanes;
      counts[first] += static_cast<std::uint32_t>(end - i);
      i = end;
    }
    for (const std::size_t stop = i + std::min<std::size_t>((n - i) / 12, 5) * 12; i < stop; i += 12)
      count_group<channels>(samples + i, counts);
  }
  while (i < n) single();
}

void count_values(const void* input, const void* memory, std::size_t n, unsigned channel, Tables& t) {
  const auto* const samples = static_cast<const std::uint8_t*>(memory);
  switch (static_cast<const Input<std::uint8_t, By<Binning::direct>>*>(input)->samples.channels) {
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
  if constexpr (!Binding::takes<T, O>)
    return {};
  else if constexpr (sizeof(T) == 1)
    return {&count_values, nullptr, true};
#if UPSWEEP_LOOKS_UP_BITS
  else
    return {&count_row<T, O, false>, &count_row<T, O, true>, false};
#else
  else
    return {&count_row<T, O, false>, nullptr, false};
#endif
}

RowLoops find_loops(Type type, Binning binning) {
  return visit(type, [&]<class T>(TypeTag<T>) -> RowLoops {
    switch (binning) {
      case Binning::even:
        return loops_of<T, By<Binning::even>>();
      case Binning::edges:
        return loops_of<T, By<Binning::edges>>();
      case Binning::direct:
        break;
    }
    return loops_of<T, By<Binning::direct>>();
  });
}

}  // namespace upsweep::ladders::histogram::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::histogram {

HWY_EXPORT(find_loops);
RowLoops simd_loops(Type type, Binning binning) { return HWY_DYNAMIC_DISPATCH(find_loops)(type, binning); }

namespace {  // a rung of the same name may exist on the GPU

struct simd {
  static constexpr Story story{
      .idea = "bins in vectors, four tables; runs are one addition, samples of full counters none",
      .prediction = "one store per cycle, 3 G samples/s, in four times as many bytes where neighbours are equal",
      .guarantees = "counts are exact; u8 and u16 stop at their largest value",
      .limits = "any n, any counter; one core",
      .source = "Intel, Optimization Reference Manual, store forwarding; Polychroniou, Ross, Rethinking SIMD, 2015"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return count_on_cores(a, 1);
  }
};

}  // namespace

extern const Rung cpu_simd_rung = make_rung<Binding, simd>("simd", Backend::cpu);

}  // namespace upsweep::ladders::histogram
#endif
