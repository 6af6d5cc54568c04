// ExactSum: a float sum without rounding, and therefore independent of order. Every finite float is an integer times
// the smallest subnormal; those integers are added in a fixed-point number as wide as the whole exponent range, and the
// total is rounded once, at the end. The result is correctly rounded, |error| <= 1/2 ulp, however much cancels, and any
// order, grid, thread count or split gives the same bits.
//
// The number has base 2^32 and one digit per signed 64-bit limb: value = sum over k of limb[k] * 2^(32k + lowest). The
// upper 32 bits of a limb hold pending carries, so a deposit touches at most three limbs and never ripples, and
// accumulators can be added limb by limb (with atomics, in any order).
//
// Source: Kulisch, Computer Arithmetic and Validity (2008); Neal, Fast Exact Summation Using Small and Large
// Superaccumulators (2015); Collange, Defour, Graillat, Iakymchuk, Numerical Reproducibility for the Parallel Reduction
// on Multi- and Many-Core Architectures (2015).
#pragma once
#include <bit>
#include <cstdint>

#include "upsweep/types.h"

namespace upsweep::ladders::reduce {

// The layout of an IEEE binary format, as constants usable in kernels.
template <class T>
struct FloatFormat;
template <>
struct FloatFormat<float> {
  using Bits = std::uint32_t;
  static constexpr int mantissa = 23;  // stored bits
  static constexpr int exponent = 8;   // bits
  static constexpr int lowest = -149;  // the smallest subnormal is 2^lowest
};
template <>
struct FloatFormat<double> {
  using Bits = std::uint64_t;
  static constexpr int mantissa = 52;
  static constexpr int exponent = 11;
  static constexpr int lowest = -1074;
};

// An exact sum. It has no initialisers, because shared variables allow none: start with `ExactSum<T> sum{}` or clear().
template <class T>
struct ExactSum {
  using Format = FloatFormat<T>;
  static constexpr int digit_bits = 32;
  static constexpr int lowest = Format::lowest;
  // The largest sum, 2^40 terms below 2^128 (2^1024 for f64), has 40 + 128 + 149 = 317 (2138) bits and a sign. 10 (67)
  // digits hold it with 3 (6) bits to spare; the last limb has 32 more bits for the sign.
  static constexpr int limbs = sizeof(T) == 4 ? 10 : 67;
  // A deposit changes a limb by less than 2^32, and carry() leaves |limb| <= 2^32. So |limb| < 2^62 + 2^33 after 2^30
  // further deposits, and two such accumulators can be added before the next carry without overflow.
  static constexpr std::uint32_t deposits_between_carries = 1u << 30;

  static constexpr std::uint32_t saw_nan = 1, saw_plus_infinity = 2, saw_minus_infinity = 4;
  static constexpr std::uint32_t not_finite = saw_nan | saw_plus_infinity | saw_minus_infinity;
  // saw_element: any element; saw_other: an element other than -0. A zero sum is -0 if only saw_element is set.
  static constexpr std::uint32_t saw_element = 8, saw_other = 16;

  std::int64_t limb[limbs];
  std::uint32_t flags;    // saw_...
  std::uint32_t pending;  // deposits since the last carry(), at most deposits_between_carries

  UPSWEEP_HD constexpr void clear() { *this = ExactSum{}; }

  // Adds x. The f32 accumulator also takes any double that is a multiple of 2^-149 and below 2^168 in magnitude, such
  // as an exact partial sum of floats.
  UPSWEEP_HD constexpr void deposit(float x) { decode(x); }
  UPSWEEP_HD constexpr void deposit(double x) { decode(x); }

  // Adds +-magnitude * 2^(position + lowest). The term must be below 2^168 (f32) or 2^1064 (f64). The caller sets the
  // flags for the elements that the term sums.
  UPSWEEP_HD constexpr void deposit(bool negative, std::uint64_t magnitude, int position) {
    for_digits(negative, magnitude, position, [&](int k, std::int64_t digit) { limb[k] += digit; });
    if (++pending >= deposits_between_carries) carry();
  }

  // Adds another sum.
  UPSWEEP_HD constexpr void add(const ExactSum& other) {
    if (pending + other.pending > deposits_between_carries) carry();
    for (int k = 0; k < limbs; ++k) limb[k] += other.limb[k];
    flags |= other.flags;
    // carry() leaves nonzero digits, which count as one deposit.
    pending += other.pending + 1;
    if (pending > deposits_between_carries) carry();
  }

  // Propagates the carries. Afterwards every limb but the last is in [0, 2^32), the last has the sign, and equal values
  // have equal limbs.
  UPSWEEP_HD constexpr void carry() {
    for (int k = 0; k + 1 < limbs; ++k) {
      const std::int64_t up = limb[k] >> digit_bits;  // rounds down, so that the remaining digit is not negative
      limb[k] -= up * (std::int64_t{1} << digit_bits);
      limb[k + 1] += up;
    }
    pending = 0;
  }

  // Returns the sum rounded to nearest, ties to even; infinity if it overflows; NaN after a NaN or after infinities of
  // both signs. An exact zero is +0, or -0 if there are elements and all are -0.
  UPSWEEP_HD constexpr T round() const {
    constexpr Bits infinity = ((Bits{1} << Format::exponent) - 1) << Format::mantissa;
    constexpr Bits sign_bit = Bits{1} << (Format::mantissa + Format::exponent);
    constexpr Bits quiet_nan = infinity | Bits{1} << (Format::mantissa - 1);
    constexpr std::uint32_t both = saw_plus_infinity | saw_minus_infinity;
    if ((flags & saw_nan) || (flags & both) == both) return std::bit_cast<T>(quiet_nan);
    if (flags & saw_plus_infinity) return std::bit_cast<T>(infinity);
    if (flags & saw_minus_infinity) return std::bit_cast<T>(Bits(infinity | sign_bit));

    ExactSum s = *this;
    s.carry();
    const bool negative = s.limb[limbs - 1] < 0;
    if (negative) {
      for (int k = 0; k < limbs; ++k) s.limb[k] = -s.limb[k];
      s.carry();
    }
    // Each limb now holds 32 bits of the magnitude. Keep `kept` bits from the leading one down; the round bit and the
    // sticky bits below them decide the rounding.
    int top = limbs - 1;
    while (top > 0 && s.limb[top] == 0) --top;
    const std::uint64_t high = static_cast<std::uint64_t>(s.limb[top]);
    const int bits = digit_bits * top + bit_width(high);  // width of the whole integer
    if (bits == 0) return std::bit_cast<T>((flags & (saw_element | saw_other)) == saw_element ? sign_bit : Bits{0});
    constexpr int kept = Format::mantissa + 1;
    if (bits <= kept) {  // exact: the integer is the encoding, for subnormals and the lowest normal binade alike
      const std::uint64_t integer = high << (top * digit_bits) | (top ? static_cast<std::uint64_t>(s.limb[0]) : 0);
      return std::bit_cast<T>(Bits(static_cast<Bits>(integer) | (negative ? sign_bit : 0)));
    }
    const int shift = bits - kept;  // bits to drop
    std::uint64_t mantissa = s.bits_from(shift, kept);
    const bool half = s.bits_from(shift - 1, 1);
    if (half && ((mantissa & 1) || s.any_below(shift - 1))) ++mantissa;
    // The mantissa's leading bit adds one to the exponent field, as does a carry out of rounding.
    const std::uint64_t encoded = (static_cast<std::uint64_t>(shift) << Format::mantissa) + mantissa;
    const Bits magnitude = encoded >= infinity ? infinity : static_cast<Bits>(encoded);
    return std::bit_cast<T>(Bits(magnitude | (negative ? sign_bit : 0)));
  }

  // Returns the flags of x that decide the sign of a zero sum.
  template <class F>
  UPSWEEP_HD static constexpr std::uint32_t zero_flags(F x) {
    using FromBits = typename FloatFormat<F>::Bits;
    constexpr FromBits minus_zero = FromBits{1} << (FloatFormat<F>::mantissa + FloatFormat<F>::exponent);
    return std::bit_cast<FromBits>(x) == minus_zero ? saw_element : saw_element | saw_other;
  }

  // Splits +-magnitude * 2^(position + lowest) into digits: calls add(k, digit), |digit| < 2^32, for each of the one to
  // three limbs k that change. In kernels, add() is atomic.
  template <class Add>
  UPSWEEP_HD static constexpr void for_digits(bool negative, std::uint64_t magnitude, int position, Add add) {
    constexpr std::uint64_t digit = (std::uint64_t{1} << digit_bits) - 1;
    const int k = position / digit_bits, shift = position % digit_bits;
    const std::int64_t sign = negative ? -1 : 1;
    add(k, sign * static_cast<std::int64_t>((magnitude << shift) & digit));
    if (const std::uint64_t rest = magnitude >> (digit_bits - shift)) {  // the bits above the first digit
      add(k + 1, sign * static_cast<std::int64_t>(rest & digit));
      if (rest >> digit_bits) add(k + 2, sign * static_cast<std::int64_t>(rest >> digit_bits));
    }
  }

  // Splits x into digits likewise; x is as in deposit(x). Returns the flags to set: 0 if x is finite.
  template <class F, class Add>
  UPSWEEP_HD static constexpr std::uint32_t for_digits(F x, Add add) {
    using From = FloatFormat<F>;
    using FromBits = typename From::Bits;
    const auto bits = std::bit_cast<FromBits>(x);
    const bool negative = bits >> (From::mantissa + From::exponent);
    constexpr int exponents = 1 << From::exponent;
    const int exponent = static_cast<int>(bits >> From::mantissa) & (exponents - 1);
    std::uint64_t mantissa = bits & ((FromBits{1} << From::mantissa) - 1);
    if (exponent == exponents - 1) return mantissa ? saw_nan : negative ? saw_minus_infinity : saw_plus_infinity;
    if (exponent) mantissa |= std::uint64_t{1} << From::mantissa;
    int position = (exponent ? exponent - 1 : 0) + From::lowest - lowest;  // of the mantissa's last bit
    if (position < 0) {  // a double in an f32 sum: its bits below 2^lowest are zero
      if (position <= -64) return 0;
      mantissa >>= -position;
      position = 0;
    }
    for_digits(negative, mantissa, position, add);
    return 0;
  }

 private:
  using Bits = typename Format::Bits;

  template <class F>
  UPSWEEP_HD constexpr void decode(F x) {
    flags |= zero_flags(x) | for_digits(x, [&](int k, std::int64_t digit) { limb[k] += digit; });
    if (++pending >= deposits_between_carries) carry();
  }

  UPSWEEP_HD static constexpr int bit_width(std::uint64_t x) {
    int width = 0;
    for (; x; x >>= 1) ++width;
    return width;
  }

  // Returns `count` bits from bit `first` up; count <= 53. Requires a nonnegative number, after carry().
  UPSWEEP_HD constexpr std::uint64_t bits_from(int first, int count) const {
    std::uint64_t value = 0;
    int have = -(first % digit_bits);
    for (int k = first / digit_bits; k < limbs && have < count; ++k, have += digit_bits) {
      const auto d = static_cast<std::uint64_t>(limb[k]);
      value |= have >= 0 ? d << have : d >> -have;
    }
    return value & ((std::uint64_t{1} << count) - 1);
  }

  UPSWEEP_HD constexpr bool any_below(int end) const {
    for (int k = 0; k < end / digit_bits; ++k)
      if (limb[k]) return true;
    return (limb[end / digit_bits] & ((std::int64_t{1} << (end % digit_bits)) - 1)) != 0;
  }
};

// Returns the number of i64 words that hold an exact sum of this type, f32 or f64: its limbs, and the flags.
constexpr std::size_t exact_words(Type type) {
  return (type == Type::f32 ? sizeof(ExactSum<float>) : sizeof(ExactSum<double>)) / sizeof(std::int64_t);
}

}  // namespace upsweep::ladders::reduce
