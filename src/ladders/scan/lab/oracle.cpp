#include "ladders/scan/lab/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "lab/oracle.h"

namespace upsweep::ladders::scan {
namespace {

// Checks operators that do not round, whose result is unique.
template <class T>
std::optional<std::string> exact(Op op, bool inclusive, const T* in, const T* out, std::size_t n,
                                 std::optional<T> initial) {
  T prefix = initial.value_or(of_no_elements<T>(op));
  for (std::size_t i = 0; i < n; ++i) {
    const T next = i || initial ? combined(op, prefix, in[i]) : in[i], expected = inclusive ? next : prefix;
    if (!same_value(out[i], expected)) return wrong_element(i, out[i], show(expected));
    prefix = next;
  }
  return std::nullopt;
}

template <class T>
std::optional<std::string> float_sum(bool inclusive, const T* in, const T* out, std::size_t n, std::optional<T> initial,
                                     Zeros zeros) {
  constexpr long double u = std::numeric_limits<T>::epsilon() / 2, most = std::numeric_limits<T>::max();
  long double sum = 0, magnitude = 0;  // of the finite elements so far
  bool nan = false, plus = false, minus = false;
  SignOfZero zero;
  const auto take = [&](T x) {
    zero.take(x);
    nan |= std::isnan(x);
    plus |= std::isinf(x) && x > 0;
    minus |= std::isinf(x) && x < 0;
    if (std::isfinite(x)) sum += x, magnitude += std::fabs(static_cast<long double>(x));
  };
  if (initial) take(*initial);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t roundings = i + (initial ? 1 : 0);
    if (inclusive) take(in[i]);
    const T got = out[i];
    if (zeros == Zeros::differ && !zero.fits(got)) return wrong_element(i, got, zero.minus() ? "-0" : "0");
    // roundings * u, a lower bound of growth(), nearly always suffices and saves growth()'s 100 ns.
    if (!nan && !plus && !minus && std::isfinite(got) &&
        std::fabs(got - sum) <= static_cast<long double>(roundings) * u * magnitude) {
      if (!inclusive) take(in[i]);
      continue;
    }
    const long double slack = growth<T>(roundings) * magnitude * (1 + 1.0L / 1024);
    // Added to the slack of the additions: the rounding of the result, and the smallest subnormal.
    const long double last = std::fabs(sum) * u + std::numeric_limits<T>::denorm_min();
    const bool may_overflow = magnitude + slack >= most;
    bool right;
    if (nan || (plus && minus))
      right = std::isnan(got);
    else if (plus || minus)
      right = std::isinf(got) ? (got > 0) == plus : std::isnan(got) && may_overflow;
    else if (!std::isfinite(got))
      right = may_overflow;
    else
      right = std::fabs(got - sum) <= slack + last;
    if (!right) {
      const T infinity = std::numeric_limits<T>::infinity();
      const T expected = nan || (plus && minus) ? std::numeric_limits<T>::quiet_NaN()
                         : plus                 ? infinity
                         : minus                ? -infinity
                                                : static_cast<T>(sum);
      return wrong_element(i, got, show(expected), std::isfinite(expected) ? slack : 0);
    }
    if (!inclusive) take(in[i]);
  }
  return std::nullopt;
}

// A product of magnitudes, mantissa * 2^exponent with the mantissa in [1/2, 1), which never overflows.
struct Magnitude {
  long double mantissa = 0.5L;
  std::int64_t exponent = 1;

  void take(long double x) {
    int e;
    mantissa = std::frexp(mantissa * x, &e);
    exponent += e;
  }
  static long double value(long double mantissa, std::int64_t exponent) {
    constexpr std::int64_t beyond = 40'000;  // 2^beyond and 2^-beyond are not in the range of a long double
    return std::ldexp(mantissa, static_cast<int>(std::clamp(exponent, -beyond, beyond)));
  }
};

// The exact product and its tolerance. Magnitudes above and below 1 are multiplied separately: every partial product,
// in any order, lies between the two.
template <class T>
class FloatProduct {
  using L = std::numeric_limits<T>;

 public:
  void take(T x) {
    if (std::isnan(x)) {
      nan_ = true;
      return;
    }
    minus_ ^= std::signbit(x);
    const long double size = std::fabs(static_cast<long double>(x));
    if (std::isinf(x))
      infinity_ = true;
    else if (x == 0)
      zero_ = true;
    else
      (size > 1 ? rising_ : falling_).take(size);
  }
  bool fits(T got, std::size_t roundings) const {
    if (is_nan()) return std::isnan(got);
    constexpr long double u = L::epsilon() / 2;
    const long double error = std::fabs(std::fabs(static_cast<long double>(got)) - magnitude());
    // roundings * u, a lower bound of growth(), nearly always suffices and saves growth()'s 100 ns.
    if (!zero_ && !infinity_ && std::isfinite(got) && std::signbit(got) == minus_ &&
        error <= static_cast<long double>(roundings) * u * magnitude())
      return true;
    const std::int64_t spread = spread_of(roundings);
    const bool may_overflow = rising_.exponent + spread > L::max_exponent;
    const bool may_vanish = falling_.exponent - spread <= L::min_exponent - L::digits;
    if (std::isnan(got)) return infinity_ ? may_vanish : may_overflow && (zero_ || may_vanish);  // infinity * 0
    if (std::signbit(got) != minus_) return false;
    if (infinity_) return std::isinf(got);
    if (zero_) return got == 0;
    return std::isinf(got) ? may_overflow : error <= slack(roundings, spread);
  }
  std::string mistake(std::size_t i, T got, std::size_t roundings) const {
    if (is_nan()) return wrong_element(i, got, show(L::quiet_NaN()));
    const T size = infinity_ ? L::infinity() : zero_ ? T{0} : static_cast<T>(magnitude());
    return wrong_element(i, got, show(minus_ ? -size : size),
                         size == 0 || std::isinf(size) ? 0 : slack(roundings, spread_of(roundings)));
  }

 private:
  // Returns the number of binades by which rounding may change a product: 1 plus log2((1 + u)^roundings).
  static std::int64_t spread_of(std::size_t roundings) {
    return 1 + static_cast<std::int64_t>(1.5L * L::epsilon() / 2 * static_cast<long double>(roundings));
  }
  bool is_nan() const { return nan_ || (zero_ && infinity_); }
  // Returns the magnitude of the exact product, unless that is 0, infinity or NaN.
  long double magnitude() const {
    return Magnitude::value(rising_.mantissa * falling_.mantissa, rising_.exponent + falling_.exponent);
  }
  // Returns the largest error of a right result.
  long double slack(std::size_t roundings, std::int64_t spread) const {
    const long double lost = static_cast<long double>(roundings) * L::denorm_min();
    return growth<T>(roundings) * magnitude() * (1 + 1.0L / 1024) +
           lost * Magnitude::value(1, rising_.exponent + spread);
  }

  bool nan_ = false, infinity_ = false, zero_ = false, minus_ = false;
  Magnitude rising_, falling_;  // of the finite nonzero elements above 1, and of the others
};

template <class T>
std::optional<std::string> float_product(bool inclusive, const T* in, const T* out, std::size_t n,
                                         std::optional<T> initial) {
  FloatProduct<T> product;
  if (initial) product.take(*initial);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t roundings = i + (initial ? 1 : 0);
    if (inclusive) product.take(in[i]);
    if (!product.fits(out[i], roundings)) return product.mistake(i, out[i], roundings);
    if (!inclusive) product.take(in[i]);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_mistake(Type type, Op op, bool inclusive, const void* in, const void* out,
                                        std::size_t n, Zeros zeros, const Scalar& initial) {
  if (is_half_type(type))
    return visit_half(type, [&]<class T>(TypeTag<T>) {
      const T *values = static_cast<const T*>(in), *results = static_cast<const T*>(out);
      const std::vector<float> floats(values, values + n);
      const auto judge = [&](bool overflowed) {
        std::vector<float> judged(n);
        long double sum = initial ? float(initial.as<T>()) : -0.0L;
        for (std::size_t i = 0; i < n; ++i) {
          const long double before = i == 0 && !initial ? 0 : sum;
          sum += floats[i];
          const float stored = results[i];
          judged[i] = overflowed && std::isinf(stored) ? stored : unrounded(results[i], inclusive ? sum : before);
        }
        return find_mistake(Type::f32, op, inclusive, floats.data(), judged.data(), n, zeros,
                            initial ? Scalar(float(initial.as<T>())) : Scalar());
      };
      // An infinity may come from the last rounding, to T, or from an overflow before it; accept either.
      auto mistake = judge(false);
      return mistake ? judge(true) : mistake;
    });
  return visit(type, [&]<class T>(TypeTag<T>) {
    std::optional<T> first;
    if (initial) first = initial.as<T>();
    const T *values = static_cast<const T*>(in), *results = static_cast<const T*>(out);
    if constexpr (std::is_floating_point_v<T>) {
      if (op == Op::sum) return float_sum<T>(inclusive, values, results, n, first, zeros);
      if (op == Op::product) return float_product<T>(inclusive, values, results, n, first);
    }
    return exact<T>(op, inclusive, values, results, n, first);
  });
}

}  // namespace upsweep::ladders::scan
