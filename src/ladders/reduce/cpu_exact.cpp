// Exact sums, mostly by ordinary vector additions. With a suitable accumulator, most float additions are exact, and the
// largest and smallest magnitude of a batch can prove it. So each batch is summed with ordinary vector adds while its
// extremes are tracked, and the sums are kept if the extremes prove that no addition rounded. Otherwise the
// accumulators are flushed into the ExactSum, and the batch goes to empty accumulators. A batch whose exponents span
// too wide a range even for these is summed element by element, in bins.
//
// The choice of path depends on where batches begin. The sum does not, because every path is exact.
//
// f32: the accumulators are f64. Sums of multiples of 2^p below 2^(53 + p) do not round; an f32 has 24 of those 53
// bits.
// f64: the accumulators are pairs. The first of a pair is kept near 1.5 * 2^(52 + g), so that adding x to it rounds x
// to a multiple of 2^g. A subtraction recovers the rounded x, and the remainder of x is added to the second. Both stay
// exact.
//
// Source: Demmel, Nguyen, Fast Reproducible Floating-Point Summation (2013), for the pairs; Neal (2015) for the bins.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/reduce/cpu_exact.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ladders/reduce/cpu_exact.h"

#ifndef UPSWEEP_REDUCE_CPU_EXACT_ONCE
#define UPSWEEP_REDUCE_CPU_EXACT_ONCE
namespace upsweep::ladders::reduce {

// One accumulator per exponent: bin e holds the integer sum of the mantissas of all elements with exponent e. Takes any
// input, at 1 to 2 ns per element. 53-bit mantissas are split between two halves of a bin, so that each half can sum
// 2^36 of them without overflow; an unsplit bin can sum 2^39 24-bit mantissas.
template <class T>
class Bins {
  using Format = FloatFormat<T>;
  using Bits = typename Format::Bits;
  static constexpr int exponents = 1 << Format::exponent;
  static constexpr int halves = sizeof(T) == 4 ? 1 : 2;
  static constexpr int split = 27;  // bits in the lower half

 public:
  void take(const T* in, std::size_t n) {
    if (!used_) std::memset(bins_, 0, sizeof bins_);
    used_ = true;
    for (std::size_t i = 0; i < n; ++i) {
      const auto bits = std::bit_cast<Bits>(in[i]);
      const auto exponent = static_cast<std::size_t>(bits >> Format::mantissa & (exponents - 1));
      const std::int64_t implied = exponent ? std::int64_t{1} << Format::mantissa : 0;
      const std::int64_t mantissa = static_cast<std::int64_t>(bits & ((Bits{1} << Format::mantissa) - 1)) | implied;
      const std::int64_t negative =
          -static_cast<std::int64_t>(bits >> (Format::mantissa + Format::exponent));  // 0 or -1
      const auto add = [&](std::int64_t& half, std::int64_t part) { half += (part ^ negative) - negative; };
      if constexpr (halves == 1)
        add(bins_[exponent][0], mantissa);
      else {
        add(bins_[exponent][0], mantissa & ((std::int64_t{1} << split) - 1));
        add(bins_[exponent][1], mantissa >> split);
      }
      if (exponent == exponents - 1) special_.deposit(in[i]);
    }
  }
  void flush_into(ExactSum<T>& sum) {
    if (!used_) return;
    const auto deposit = [&](std::int64_t m, int position) {
      if (m) sum.deposit(m < 0, static_cast<std::uint64_t>(m < 0 ? -m : m), position);
    };
    for (int exponent = 0; exponent < exponents - 1; ++exponent) {
      const int position = std::max(exponent, 1) - 1;
      for (int half = 0; half < halves; ++half) deposit(bins_[exponent][half], position + half * split);
    }
    sum.add(special_);
  }

 private:
  bool used_ = false;
  std::int64_t bins_[exponents][halves];  // zeroed on first use, because most sums use no bin
  ExactSum<T> special_{};                 // for its flags: infinities and NaNs
};

// Bounds on a batch, in units of the smallest subnormal, 2^lowest: every element is a multiple of 2^unit and below
// 2^top in magnitude.
template <class T>
struct Range {
  int unit = 0, top = 0;
  bool all_zero = false, finite = true;

  using Bits = typename FloatFormat<T>::Bits;
  // Returns the range of a batch from the encodings of its largest and its smallest nonzero magnitude. The latter is
  // passed minus 1, so that the caller's minimum skips zeros, which wrap to the maximum.
  static Range from(Bits largest, Bits smallest_less_1) {
    constexpr int mantissa = FloatFormat<T>::mantissa, exponents = (1 << FloatFormat<T>::exponent) - 1;
    Range r;
    if (largest == 0) {
      r.all_zero = true;
      return r;
    }
    const int high = static_cast<int>(largest >> mantissa);
    const int low = static_cast<int>((smallest_less_1 + 1) >> mantissa);
    r.finite = high != exponents;
    r.unit = std::max(low, 1) - 1;
    r.top = std::max(high, 1) + mantissa;
    return r;
  }
};

}  // namespace upsweep::ladders::reduce
#endif

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::reduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::ScalableTag<double> d64;
constexpr hn::Rebind<float, decltype(d64)> half32;  // as many floats as d64 has doubles
constexpr hn::ScalableTag<float> f32;
constexpr hn::ScalableTag<std::uint32_t> u32;
constexpr bool one_lane = HWY_TARGET == HWY_SCALAR;  // elsewhere a vector has twice as many floats as doubles
constexpr hn::ScalableTag<std::uint64_t> u64;
using V64 = hn::Vec<decltype(d64)>;

// Tracks the largest and the smallest nonzero magnitude in each lane.
template <class D>
struct Extremes {
  using Bits = hn::TFromD<D>;
  hn::Vec<D> largest, smallest_less_1;
  HWY_INLINE Extremes() : largest(hn::Zero(D())), smallest_less_1(hn::Set(D(), static_cast<Bits>(-1))) {}
  HWY_INLINE void take(hn::Vec<D> bits) {
    const D d;
    const auto magnitude = hn::And(bits, hn::Set(d, static_cast<Bits>(-1) >> 1));
    largest = hn::Max(largest, magnitude);
    smallest_less_1 = hn::Min(smallest_less_1, hn::Sub(magnitude, hn::Set(d, 1)));
  }
  template <class T>
  HWY_INLINE Range<T> range() const {
    const D d;
    return Range<T>::from(hn::GetLane(hn::MaxOfLanes(d, largest)), hn::GetLane(hn::MinOfLanes(d, smallest_less_1)));
  }
};

// ---- f32 -------------------------------------------------------------------------------------------------

constexpr int chains = 8;  // accumulators: two adds issue per cycle, with a latency of three
constexpr std::size_t most_groups = 16;

// Returns 2^exponent, for exponents of normal doubles.
HWY_INLINE double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

class FloatSums {
 public:
  explicit FloatSums(ExactSum<float>& sum) : sum_(sum) {
    for (V64& a : total_) a = hn::Zero(d64);
  }

  // Returns the number of elements in a group: one vector for every chain.
  static std::size_t group() { return chains * hn::Lanes(d64); }

  // Adds a batch of `groups` groups, at most most_groups.
  void take(const float* in, std::size_t groups) {
    const std::size_t width = hn::Lanes(d64);
    V64 part[chains];
    for (V64& a : part) a = hn::Zero(d64);
    Extremes<decltype(u32)> extremes;
    const float* p = in;
    for (std::size_t g = 0; g < groups; ++g, p += chains * width) {
      HWY_UNROLL(4)
      for (int k = 0; k < chains; k += 2) {
        extremes.take(hn::BitCast(u32, hn::LoadU(f32, p + k * width)));
        if constexpr (one_lane) extremes.take(hn::BitCast(u32, hn::LoadU(f32, p + (k + 1) * width)));
        part[k] = hn::Add(part[k], hn::PromoteTo(d64, hn::LoadU(half32, p + k * width)));
        part[k + 1] = hn::Add(part[k + 1], hn::PromoteTo(d64, hn::LoadU(half32, p + (k + 1) * width)));
      }
    }
    const auto range = extremes.template range<float>();
    if (range.all_zero) return;
    const double size = static_cast<double>(groups) * power_of_two(range.top + lowest);  // bound on one lane's sum
    if (!range.finite || size > room(range.unit)) {
      bins_.take(in, groups * group());
      return;
    }
    const int unit = std::min(unit_, range.unit);
    if (size_ + size > room(unit)) {
      flush();
      unit_ = range.unit;
    } else
      unit_ = unit;
    size_ += size;
    for (int k = 0; k < chains; ++k) total_[k] = hn::Add(total_[k], part[k]);
  }

  void finish() {
    flush();
    bins_.flush_into(sum_);
  }

 private:
  static constexpr int lowest = ExactSum<float>::lowest;
  // Returns the bound below which sums of multiples of 2^(unit + lowest) never round. The sizes compared with it are
  // computed in double. Their relative rounding error, 2^-53, is far below 2^-24, the relative gap between a power of
  // two and the largest float below it.
  static double room(int unit) { return power_of_two(unit + lowest + 53); }

  void flush() {
    if (size_ == 0) return;
    const std::size_t width = hn::Lanes(d64);
    HWY_ALIGN double lanes[chains * hn::MaxLanes(d64)];
    if (size_ * static_cast<double>(chains * width) <= room(unit_)) {  // the sum of all lanes does not round either
      for (int step = chains / 2; step; step /= 2)
        for (int k = 0; k < step; ++k) total_[k] = hn::Add(total_[k], total_[k + step]);
      sum_.deposit(hn::GetLane(hn::SumOfLanes(d64, total_[0])));
    } else {
      for (int k = 0; k < chains; ++k) hn::Store(total_[k], d64, lanes + k * width);
      for (std::size_t i = 0; i < chains * width; ++i) sum_.deposit(lanes[i]);
    }
    for (V64& a : total_) a = hn::Zero(d64);
    size_ = 0;
    unit_ = no_unit;
  }

  static constexpr int no_unit = 1 << 20;  // above every unit
  ExactSum<float>& sum_;
  Bins<float> bins_;
  V64 total_[chains];  // multiples of 2^(unit_ + lowest), each lane at most size_ in magnitude
  int unit_ = no_unit;
  double size_ = 0;
};

// ---- f64 -------------------------------------------------------------------------------------------------

constexpr int pairs = 4;

class DoubleSums {
 public:
  explicit DoubleSums(ExactSum<double>& sum) : sum_(sum) {}

  static std::size_t group() { return pairs * hn::Lanes(d64); }

  void take(const double* in, std::size_t groups) {
    if (steps_ != 0) {  // first try the accumulators of the last batch
      V64 high[pairs], low[pairs];
      std::copy(high_, high_ + pairs, high);
      std::copy(low_, low_ + pairs, low);
      const auto range = add<true>(in, groups, high, low);
      if (range.all_zero || admit(range, groups)) {
        std::copy(high, high + pairs, high_);
        std::copy(low, low + pairs, low_);
        return;
      }
      flush();
    }
    const auto range = measure(in, groups);
    if (range.all_zero) return;
    if (!open(range) || !admit(range, groups)) {
      bins_.take(in, groups * group());
      return;
    }
    add<false>(in, groups, high_, low_);
  }

  void finish() {
    flush();
    bins_.flush_into(sum_);
  }

 private:
  static constexpr int lowest = ExactSum<double>::lowest;

  static Range<double> measure(const double* in, std::size_t groups) {
    Extremes<decltype(u64)> extremes;
    const std::size_t width = hn::Lanes(d64);
    for (std::size_t i = 0; i < groups * pairs; ++i) extremes.take(hn::BitCast(u64, hn::LoadU(d64, in + i * width)));
    return extremes.template range<double>();
  }

  template <bool measured>
  static HWY_INLINE Range<double> add(const double* in, std::size_t groups, V64* high_in, V64* low_in) {
    const std::size_t width = hn::Lanes(d64);
    V64 high[pairs], low[pairs];
    std::copy(high_in, high_in + pairs, high);
    std::copy(low_in, low_in + pairs, low);
    Extremes<decltype(u64)> extremes;
    for (std::size_t g = 0; g < groups; ++g, in += pairs * width) {
      HWY_UNROLL(4)
      for (int k = 0; k < pairs; ++k) {
        const V64 x = hn::LoadU(d64, in + k * width);
        if constexpr (measured) extremes.take(hn::BitCast(u64, x));
        const V64 next = hn::Add(high[k], x);
        const V64 taken = hn::Sub(next, high[k]);
        high[k] = next;
        low[k] = hn::Add(low[k], hn::Sub(x, taken));
      }
    }
    std::copy(high, high + pairs, high_in);
    std::copy(low, low + pairs, low_in);
    if constexpr (measured)
      return extremes.template range<double>();
    else
      return {};
  }

  // Empties the accumulators and sets them up for 2^10 steps of this range. Returns false if they could not be exact.
  bool open(const Range<double>& range) {
    // Upper end: the first accumulator may drift from 1.5 * 2^(52 + grain) by 2^(51 + grain), that is, by 2^13 elements
    // below 2^top. This allows 2^10 steps even if later elements are eight times the largest seen.
    grain_ = range.top + 13 - 51;
    // Every intermediate must be normal: the initial value and the sums must not overflow, nor lose low bits.
    if (!range.finite || grain_ + 53 + lowest > 1000 || grain_ + lowest < -1020) return false;
    unit_ = range.unit;
    size_ = 0;
    for (V64& a : high_) a = hn::Set(d64, start());
    for (V64& a : low_) a = hn::Zero(d64);
    return true;
  }

  // Extends the bounds to include a batch. Returns false, and leaves the bounds unchanged, if the sums might not stay
  // exact.
  bool admit(const Range<double>& range, std::size_t groups) {
    if (!range.finite) return false;
    const double steps = static_cast<double>(steps_ + groups);
    const double grain = power_of_two(grain_ + lowest);
    const double size = size_ + static_cast<double>(groups) * power_of_two(range.top + lowest);
    const int unit = std::min(unit_, range.unit);
    // Rounding x to the grain leaves a remainder of at most half a grain, a multiple of the unit.
    const bool high_fits = size + steps * grain / 2 < power_of_two(51 + grain_ + lowest);
    const bool low_fits = steps * grain / 2 <= power_of_two(std::min(53 + unit + lowest, 1023));
    if (!high_fits || !low_fits) return false;
    unit_ = unit;
    size_ = size;
    steps_ += groups;
    return true;
  }

  void flush() {
    if (steps_ == 0) return;
    const std::size_t width = hn::Lanes(d64);
    HWY_ALIGN double lanes[2 * pairs * hn::MaxLanes(d64)];
    for (int k = 0; k < pairs; ++k) {
      hn::Store(hn::Sub(high_[k], hn::Set(d64, start())), d64, lanes + 2 * k * width);
      hn::Store(low_[k], d64, lanes + (2 * k + 1) * width);
    }
    for (std::size_t i = 0; i < 2 * pairs * width; ++i) sum_.deposit(lanes[i]);
    steps_ = 0;
  }

  double start() const { return 1.5 * power_of_two(52 + grain_ + lowest); }

  ExactSum<double>& sum_;
  Bins<double> bins_;
  V64 high_[pairs], low_[pairs];
  int grain_ = 0, unit_ = 0;  // exponents, relative to `lowest`
  double size_ = 0;           // bound on the sum of the magnitudes added to one lane
  std::size_t steps_ = 0;     // additions to one lane; 0: the accumulators are empty
};

template <class Sums, class T>
void deposit_span(const T* in, std::size_t n, ExactSum<T>& sum) {
  Sums sums(sum);
  const std::size_t group = Sums::group();
  const auto take_some = [&](std::size_t count) {  // fewer elements than a group
    T padded[chains * hn::MaxLanes(d64)] = {};     // zeros leave sums unchanged
    std::memcpy(padded, in, count * sizeof(T));
    sums.take(padded, 1);
    in += count, n -= count;
  };
  // Align to a vector: a load that crosses a cache line costs as much as two.
  const std::size_t width = hn::Lanes(d64) * sizeof(double) / sizeof(T);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(in) / sizeof(T) % width;
  if (past && n >= group) take_some(width - past);
  for (std::size_t groups; (groups = std::min(n / group, most_groups)); in += groups * group, n -= groups * group)
    sums.take(in, groups);
  if (n) take_some(n);
  sums.finish();
}

void deposit_floats(const float* in, std::size_t n, ExactSum<float>& sum) { deposit_span<FloatSums>(in, n, sum); }
void deposit_doubles(const double* in, std::size_t n, ExactSum<double>& sum) { deposit_span<DoubleSums>(in, n, sum); }

}  // namespace upsweep::ladders::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::reduce {

// Sets the flags that decide the sign of a zero sum, which is -0 only if every element is -0. The search usually ends
// at the first element.
template <class T>
void note_zeros(const T* in, std::size_t n, ExactSum<T>& sum) {
  if (n > 0) sum.flags |= sum.saw_element;
  if (!(sum.flags & sum.saw_other) && std::any_of(in, in + n, [](T x) { return x != 0 || !std::signbit(x); }))
    sum.flags |= sum.saw_other;
}

HWY_EXPORT(deposit_floats);
HWY_EXPORT(deposit_doubles);
void deposit_all(const float* in, std::size_t n, ExactSum<float>& sum) {
  note_zeros(in, n, sum);
  HWY_DYNAMIC_DISPATCH(deposit_floats)(in, n, sum);
}
void deposit_all(const double* in, std::size_t n, ExactSum<double>& sum) {
  note_zeros(in, n, sum);
  HWY_DYNAMIC_DISPATCH(deposit_doubles)(in, n, sum);
}

}  // namespace upsweep::ladders::reduce
#endif  // HWY_ONCE
