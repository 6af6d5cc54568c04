// histogram: out[0][c * bins + k] = the number of samples of channel c in bin k; out[1] = the number of samples in no
// bin, one u64.
//
//   even    bin k has edge k <= x < edge k + 1, where edge k is lower + k * (upper - lower) / bins. For integers, this
//           is exact. For floats, an edge is computed in f64 from left to right and rounded to the samples' type; the
//           last edge is `upper`, rounded. A bin whose edges round to the same number is empty.
//   edges   bin k has edges[k] <= x < edges[k + 1]; in[1] holds bins + 1 ascending edges of any type, which are
//           compared with samples by numerical value
//   direct  bin k has the samples equal to k
//
// The last bin of even and of edges excludes its upper edge, unless `closed` is set.
//
// in[0] holds rows of `width` samples; rows start `pitch` samples apart. Width 0 means a single row of all samples.
// Sample j of a row belongs to channel j % channels. out[0] holds channels * bins counters: u32 or u64, or u8 or u16,
// which saturate: they stop at their largest value. A NaN is in no bin.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/implementation.h"
#include "base/unsigned_as.h"
#include "upsweep/parameters/histogram.h"
#include "upsweep/types.h"

namespace upsweep::ladders::histogram {

// The type that rungs use for samples of type T: for an integer, the unsigned type of its size, so that a kernel is
// compiled once for signed and unsigned samples. A difference modulo 2^bits does not depend on the sign; where order
// matters, Bins flips the top bit of signed samples.
template <class T>
struct StoredType {
  using type = T;
};
template <class T>
requires std::is_integral_v<T>
struct StoredType<T> {
  using type = UnsignedAs<T>;
};
template <class T>
using Stored = typename StoredType<T>::type;

// ---- samples --------------------------------------------------------------------------------------------------------

template <class T>
struct Samples {
  const T* data;
  std::size_t count;         // excluding gaps between rows
  std::size_t width, pitch;  // a single row: width == count
  unsigned channels;

  UPSWEEP_HD T operator[](std::size_t i) const { return data[width == count ? i : i / width * pitch + i % width]; }
  UPSWEEP_HD unsigned channel(std::size_t i) const {
    return channels == 1 ? 0 : static_cast<unsigned>(i % width % channels);
  }
};

// Splits the samples into parts of at most `most` samples, which must be a multiple of the number of channels. A part
// consists of whole rows or is a piece of one row. Calls f(part) for each part, and returns the first failure.
template <class T, class F>
Status for_each_part(const Samples<T>& s, std::size_t most, F&& f) {
  if (s.count == 0) return {};
  const std::size_t rows = s.width < most ? most / s.width : 1;
  for (std::size_t row = 0; row * s.width < s.count; row += rows) {
    const std::size_t left = s.count - row * s.width, all = left < rows * s.width ? left : rows * s.width;
    const std::size_t at_once = rows > 1 ? all : most;
    for (std::size_t from = 0; from < all; from += at_once) {
      const std::size_t count = all - from < at_once ? all - from : at_once;
      const std::size_t width = rows > 1 && count > s.width ? s.width : count;
      if (Status failed = f(Samples<T>{s.data + row * s.pitch + from, count, width, s.pitch, s.channels}); !failed)
        return failed;
    }
  }
  return {};
}

// Returns the number of samples in an array of n elements, some of which are in gaps between rows.
constexpr std::size_t samples_in(std::size_t n, std::size_t width, std::size_t pitch) {
  if (width == 0 || n == 0) return n;
  const std::size_t last = n % pitch;
  return n / pitch * width + (last < width ? last : width);
}

// ---- bins -----------------------------------------------------------------------------------------------------------

template <Binning b>
struct By {
  static constexpr Binning operation = b;
};

// Maps a sample to its bin, or to `count` if the sample is in no bin. Plain data, passed to kernels by value.
template <class T, class O>
struct Bins;

__extension__ using Wide = unsigned __int128;
__extension__ using Int128 = __int128;

// Computes floor(distance * count / width) for distance < width <= 2^32 and count <= 2^20, without a division: distance
// * factor >> shift, where factor = count * 2^shift / width, rounded up. The result before truncation is too large by
// less than distance / 2^shift, and so by less than 1 / width if 2^shift >= width^2: not enough to reach the next
// integer. Granlund, Montgomery, Division by Invariant Integers using Multiplication, 1994.
struct Scale {
  std::uint64_t width;
  std::uint64_t factor;     // below 2^54
  unsigned shift_after_32;  // shift - 32, from 0 to 32
  int as_shift;             // equivalent right shift of the distance, 0 to 31; -1 if there is none

  Scale(std::uint64_t count, Wide all) : width(static_cast<std::uint64_t>(all)) {
    const unsigned shift = 2 * static_cast<unsigned>(std::bit_width(width - 1));
    shift_after_32 = shift > 32 ? shift - 32 : 0;
    factor = static_cast<std::uint64_t>(((Wide{count} << (shift_after_32 + 32)) + width - 1) / width);
    const int one = static_cast<int>(shift_after_32) + 32 - std::countr_zero(factor);
    as_shift = std::has_single_bit(factor) && one >= 0 && one < 32 ? one : -1;
  }
  UPSWEEP_HD unsigned operator()(std::uint32_t distance) const {
    const std::uint64_t high = distance * (factor >> 32), low = distance * (factor & 0xffffffffu);
    return static_cast<unsigned>((high + (low >> 32)) >> shift_after_32);
  }
};

// Scale for widths up to 2^64. Distance and width are shifted left until the width is above 2^63, and factor is count *
// 2^64 / width, rounded down, so that the upper half of distance * factor is too small by at most one. The remainder
// tells whether it is.
struct LongScale {
  Wide width;              // above 2^63
  std::uint64_t greatest;  // largest distance, before the shift
  std::uint64_t count, factor;
  int moved;     // left shift of distance and width, 0 to 63
  int as_shift;  // as in Scale, 0 to 63

  LongScale(std::uint64_t bins, Wide all)
      : greatest(static_cast<std::uint64_t>(all - 1)), count(bins), moved(64 - std::bit_width(greatest)), as_shift(-1) {
    if (moved == 64) moved = 63;  // a width of 1
    width = all << moved;
    factor = static_cast<std::uint64_t>((Wide{bins} << 64) / width);
    const int log_bins = std::bit_width(bins) - 1, log_all = std::bit_width(greatest);
    if (std::has_single_bit(bins) && all == Wide{1} << log_all && log_all >= log_bins && log_all - log_bins < 64)
      as_shift = log_all - log_bins;
  }
  UPSWEEP_HD unsigned operator()(std::uint64_t distance) const {
    const std::uint64_t at = distance << moved;
    const auto bin = static_cast<unsigned>(Wide{at} * factor >> 64);
    return bin + (Wide{at} * count - Wide{bin} * width >= width);
  }
};

template <class T>
requires std::is_integral_v<T>
struct Bins<T, By<Binning::even>> {
  static constexpr bool is_long = sizeof(T) == 8;
  using Distance = std::conditional_t<is_long, std::uint64_t, std::uint32_t>;
  T first;           // smallest value in the range
  T sign;            // the top bit if T stands for a signed type, else 0
  Distance last;     // largest value in the range minus the smallest
  Distance skipped;  // smallest value in the range minus the lower bound
  std::conditional_t<is_long, LongScale, Scale> scale;
  unsigned count;
  bool closed;

  bool covers_every_value() const { return last == std::numeric_limits<T>::max(); }
  bool has_shortcut() const { return scale.as_shift >= 0 && !closed; }
  UPSWEEP_HD unsigned operator()(T x) const {
    const Distance distance = static_cast<T>(x - first);  // wraps to a large number if x < first
    if (distance > last) return count;
    const Distance above = distance + skipped;
    if constexpr (is_long)
      return above > scale.greatest ? count - 1 : scale(above);  // true only at the upper bound of a closed last bin
    const unsigned bin = scale(above);
    return bin < count ? bin : count - 1;
  }
  // Requires has_shortcut().
  UPSWEEP_HD unsigned by_shift(T x) const {
    const Distance distance = static_cast<T>(x - first);
    return distance <= last ? static_cast<unsigned>((distance + skipped) >> scale.as_shift) : count;
  }
};

// Truncates and clamps to the range of unsigned; NaN becomes 0.
UPSWEEP_HD inline unsigned truncated(float x) {
#if defined(__CUDA_ARCH__)
  return __float2uint_rz(x);  // one instruction
#else
  return x >= 0x1p32f ? ~0u : x > 0 ? static_cast<unsigned>(x) : 0;
#endif
}

// Returns the last of bins [first, last) that starts at or below x, by binary search. Bin `first` must start at or
// below x; edge(k) is the start of bin k.
template <class T, class Edge>
UPSWEEP_HD unsigned last_at_or_below(T x, unsigned first, unsigned last, Edge&& edge) {
  while (last - first > 1) {
    const unsigned middle = (first + last) / 2;
    (x < edge(middle) ? last : first) = middle;
  }
  return first;
}

// Returns a / b, correctly rounded, given the rounded 1 / b; b is an integer up to 2^20. A GPU's native division takes
// so many registers that a kernel has fewer loads in flight. The error of a * one_by_b is below two units in the last
// place, its remainder is exact, and the correction adds an error below 2^-104 of the quotient. No quotient is that
// close to the midpoint of two adjacent numbers, or equal to it, because b has too few bits. No intermediate result may
// be subnormal or overflow. Markstein, Computation of Elementary Functions on the IBM RISC System/6000 Processor, 1990.
UPSWEEP_HD inline double quotient(double a, double b, double one_by_b) {
  const double near = a * one_by_b;
  return std::fma(std::fma(-b, near, a), one_by_b, near);
}

// The edges of even float bins, as the contract defines them, computed in f64, and a search among them.
template <class T>
struct EvenEdges {
  double lower, width;
  double per_unit = 0;  // bins per unit of x; 0 if infinite, as for a subnormal width
  double reach;         // bound on the error of (x - lower) * per_unit plus that of an edge, in bins
  double one_by_count;
  T upper;
  unsigned count;

  // Maximum relative error of rounding to T.
  static constexpr double half_ulp = std::numeric_limits<T>::epsilon() / 2;
  static constexpr double f64_error = 4 * 0x1p-53;  // relative, of an edge before it is rounded to T: four operations
  static constexpr double slack = 1 + 0x1p-10;      // factor for products of errors and the rounding of bounds

  EvenEdges(double from, double to, unsigned bins)
      : lower(from),
        width(to - from),
        one_by_count(1.0 / bins),
        upper(static_cast<T>(to)),
        count(bins) {
    const double bins_per_unit = bins / width;
    if (std::isfinite(bins_per_unit)) per_unit = bins_per_unit;  // otherwise `reach` covers all bins
    const double farthest = std::fmax(std::fabs(from), std::fabs(to));
    // An edge is rounded to T, whose numbers below `min` are min * epsilon apart.
    const double rounding = half_ulp * std::fmax(farthest, std::numeric_limits<T>::min());
    const double bound = slack * (rounding + 2 * f64_error * (width + farthest)) * bins_per_unit;
    reach = bound < bins ? bound : bins;  // also if `bound` is NaN
  }
  UPSWEEP_HD T operator[](unsigned k) const {
    return k < count ? static_cast<T>(lower + share(f64(k) * width)) : upper;
  }
  // Returns the bin of x, which must be in the range.
  UPSWEEP_HD unsigned bin_of(T x) const {
    const double place = (x - lower) * per_unit, low = place - reach, high = place + reach;
    const unsigned first = low > 0 ? static_cast<unsigned>(low) : 0;
    const unsigned last = high < count ? static_cast<unsigned>(high) + 1 : count;
    return last_at_or_below(x, first, last, [this](unsigned k) { return (*this)[k]; });
  }

 private:
  UPSWEEP_HD double share(double all) const {
#if defined(__CUDA_ARCH__)
    // f64 bounds that differ as f32 are at least 2^-202 apart, so quotient() meets no subnormals. If T is f64, the
    // width itself may be subnormal.
    if constexpr (sizeof(T) == 4) return quotient(all, f64(count), one_by_count);
#endif
    return all / count;
  }
  // Returns k as f64, exactly. A GPU converts integers to f64 at a quarter of the rate at which it adds f64.
  UPSWEEP_HD static double f64(unsigned k) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(0x1p52) | k) - 0x1p52;
  }
};

// Even float bins. A sample is compared with the nearest edge, computed in T: two products, no division. The exact
// edges are consulted only if the sample is within the error bound of its nearest edge, or if T has too few numbers
// between edges.
template <class T>
requires std::is_floating_point_v<T>
struct Bins<T, By<Binning::even>> {
  // Adding this to a number below 2^22 (f32) or 2^51 (f64) leaves the nearest integer in the low bits of the sum.
  static constexpr T whole = T{3} * (std::uint64_t{1} << (std::numeric_limits<T>::digits - 2));

  T lower, upper;
  T included;   // the upper bound if the last bin is closed, otherwise NaN
  T origin;     // position of edge 0 for by_next_edge()
  T scale;      // bins per unit
  T step;       // distance between edges
  T tolerance;  // bound on the error of origin + k * step as edge k; negative if exact
  unsigned count;
  EvenEdges<T> edges;

  Bins(double from, double to, unsigned bins, bool closed)
      : lower(static_cast<T>(from)),
        upper(static_cast<T>(to)),
        included(closed ? upper : std::numeric_limits<T>::quiet_NaN()),
        count(bins),
        edges(from, to, bins) {
    using Limits = std::numeric_limits<T>;
    constexpr double u = Limits::epsilon() / 2, v = EvenEdges<T>::f64_error, slack = EvenEdges<T>::slack;
    const double width = edges.width, farthest = std::fmax(std::fabs(from), std::fabs(to)), each = width / bins;
    const bool exact = every_edge_is_exact(from, to, width, each, bins);
    // With a relative error u per rounding, (x - lower) * scale is off by up to 3 u times the number of bins, plus the
    // rounding of `lower`; an edge is off by its rounding. The total must stay below half a bin, so that the sample's
    // bin begins or ends at the nearest edge.
    const double wrong = exact ? 3 * u : 3 * u + 2 * u * farthest / width + v * (1 + farthest / width);
    constexpr int exponents = Limits::max_exponent / 8 * 6;  // widths in this range neither overflow nor underflow
    const bool usual = width < std::ldexp(1.0, exponents) && width > std::ldexp(1.0, -exponents);
    if (!usual || !(slack * wrong * bins < 0.5)) {
      origin = scale = step = 0, tolerance = Limits::infinity();  // crowded, or nearly so
      return;
    }
    origin = lower;
    scale = static_cast<T>(bins / width);
    step = static_cast<T>(each);
    // `step` and k * step have rounding errors of up to u * width each; `lower`, the sum and the edge, u * farthest
    // each.
    tolerance = exact ? T{-1} : static_cast<T>(slack * (u * (2 * width + 3 * farthest) + v * (width + farthest)));
  }

  static bool covers_every_value() { return false; }
  bool is_closed() const { return included == upper; }
  bool may_doubt() const { return tolerance >= 0; }
  bool has_shortcut() const { return !may_doubt() && !is_closed(); }
  // True if T has so few numbers between edges that the edge nearest to a sample need not bound the sample's bin.
  UPSWEEP_HD bool is_crowded() const { return tolerance == std::numeric_limits<T>::infinity(); }

  // Returns the bin of x according to the nearest edge as computed in T; the last bin is half-open. If x is within the
  // tolerance of that edge, sets `in_doubt`, and the result is arbitrary.
  UPSWEEP_HD unsigned by_next_edge(T x, bool& in_doubt) const {
    const NextEdge next(*this, x);
    in_doubt |= is_in_doubt(next);
    return bin_from(next, next.above < 0);
  }
  // Returns the bin of x; if in doubt, compares x with the exact edge. The last bin may be closed. Requires
  // !is_crowded().
  UPSWEEP_HD unsigned without_doubt(T x) const {
    const NextEdge next(*this, x);
    bool below = next.above < 0;
    if (is_in_doubt(next) && next.number <= count) below = x < edges[static_cast<unsigned>(next.number)];
    return x == included ? count - 1 : bin_from(next, below);
  }
  UPSWEEP_HD unsigned operator()(T x) const {
    if (!is_crowded()) return without_doubt(x);
    return x == included ? count - 1 : x >= lower && x < upper ? edges.bin_of(x) : count;
  }

 private:
  // The edge nearest to x, computed in T.
  struct NextEdge {
    UnsignedAs<T> number;  // wraps to a large number below all bins; large above them, and for NaN
    T above;               // x minus the edge

    UPSWEEP_HD NextEdge(const Bins& bins, T x) {
      const T shifted = (x - bins.origin) * bins.scale + whole;
      number = std::bit_cast<UnsignedAs<T>>(shifted) - std::bit_cast<UnsignedAs<T>>(whole);
      above = x - ((shifted - whole) * bins.step + bins.origin);
    }
  };
  UPSWEEP_HD bool is_in_doubt(const NextEdge& next) const { return std::fabs(next.above) <= tolerance; }
  UPSWEEP_HD unsigned bin_from(const NextEdge& next, bool below) const {
    const UnsignedAs<T> bin = next.number - below;
    return bin < count ? static_cast<unsigned>(bin) : count;
  }

  // True if all edges are multiples of one power of two, small enough that T represents each edge and every
  // intermediate result exactly. Integers and binary fractions qualify.
  static bool every_edge_is_exact(double from, double to, double width, double each, unsigned bins) {
    const double unit = from == 0 ? lowest_bit(each) : std::fmin(lowest_bit(from), lowest_bit(each));
    const double units = std::fmax(std::fmax(std::fabs(from), std::fabs(to)), width) / unit;
    return units <= std::ldexp(1.0, std::numeric_limits<T>::digits) && units * bins <= 0x1p53 && each * bins == width &&
           from + width == to;
  }
  // Returns the largest power of two that divides x, which must be finite and nonzero.
  static double lowest_bit(double x) {
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(x), &exponent);
    return std::ldexp(1.0, exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(fraction * 0x1p53)));
  }
};

template <class T>
struct Bins<T, By<Binning::edges>> {
  const T* edges;  // [count + 1]
  unsigned count;
  T sign;  // for integers: the top bit if T stands for a signed type, else 0
  bool closed;

  static bool covers_every_value() { return false; }  // edges in GPU memory cannot be read here
  // Maps signed integers to unsigned ones in the same order.
  UPSWEEP_HD T ordered(T x) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(x ^ sign);
    else
      return x;
  }
  UPSWEEP_HD T edge(unsigned k) const { return ordered(edges[k]); }
  UPSWEEP_HD unsigned operator()(T sample) const {
    const T x = ordered(sample), last = edge(count);
    if (!(x >= edge(0) && (x < last || (closed && x == last)))) return count;
    return last_at_or_below(x, 0, count, [this](unsigned k) { return edge(k); });
  }
};

template <class T>
struct Bins<T, By<Binning::direct>> {
  unsigned count;
  unsigned limit;  // smallest x in no bin: count, or the sign bit of a narrow signed type, if that is smaller

  bool covers_every_value() const { return limit > std::numeric_limits<T>::max(); }
  UPSWEEP_HD unsigned operator()(T x) const { return x < limit ? static_cast<unsigned>(x) : count; }
};

// ---- arguments ------------------------------------------------------------------------------------------------------

template <class T, class O>
struct Input {
  Samples<T> samples;
  Bins<T, O> bins;

  // Returns the number of counters. Rungs keep one more, past the last of these, for the samples in no bin.
  UPSWEEP_HD unsigned counters() const { return samples.channels * bins.count; }
  UPSWEEP_HD unsigned counter_of(std::size_t i) const {
    const unsigned bin = bins(samples[i]);
    return bin < bins.count ? samples.channel(i) * bins.count + bin : counters();
  }
};

// The caller's counters.
struct Output {
  void* counts;  // of `bits` bits each; counters of 8 and 16 bits saturate
  unsigned bits;
  std::uint64_t* outside;  // [1], or null
  bool adds = false;       // true: put() and put_outside() add to the existing counts

  // Calls f with a pointer to the counters as unsigned integers of `bits` bits.
  template <class F>
  UPSWEEP_HD void visit(F&& f) const {
    switch (bits) {
      case 8:
        return f(static_cast<std::uint8_t*>(counts));
      case 16:
        return f(static_cast<std::uint16_t*>(counts));
      case 32:
        return f(static_cast<std::uint32_t*>(counts));
      default:
        return f(static_cast<std::uint64_t*>(counts));
    }
  }
  bool saturates() const { return bits <= 16; }
  // The maximum of a counter.
  UPSWEEP_HD std::uint64_t top() const { return ~std::uint64_t{0} >> (64 - bits); }
  UPSWEEP_HD void put(std::size_t k, std::uint64_t count) const {
    const std::uint64_t most = top();
    if (adds) count += get(k);
    visit([=]<class C>(C* all) { all[k] = static_cast<C>(count < most ? count : most); });
  }
  UPSWEEP_HD std::uint64_t get(std::size_t k) const {
    std::uint64_t count = 0;
    visit([&](const auto* all) { count = all[k]; });
    return count;
  }
  UPSWEEP_HD void put_outside(std::uint64_t count) const {
    if (outside) *outside = adds ? *outside + count : count;
  }
};

// Edges whose type differs from the samples'. They are converted before a rung runs (edges.h).
struct OtherEdges {
  const void* data = nullptr;
  Type type = Type::u8;
};

template <class T, class O>
struct Args : Execution {
  Input<T, O> in;
  Output out;
  OtherEdges other_edges{};
};

}  // namespace upsweep::ladders::histogram
