#include "ladders/reduce/lab/oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "lab/oracle.h"
#include "ladders/reduce/lab/sum_by_exponent.h"

namespace upsweep::ladders::reduce {
namespace {

// Returns the number of roundings in a reduction of n elements.
constexpr std::size_t roundings(std::size_t n) { return n ? n - 1 : 0; }

// Returns the oracle of an operator whose result does not depend on the order.
template <class T>
Oracle order_free(Op op, const T* in, std::size_t n) {
  T expected = n ? in[0] : of_no_elements<T>(op);
  for (std::size_t i = 1; i < n; ++i) expected = combined(op, expected, in[i]);
  return [=](const void* out, const Rung&) -> std::optional<std::string> {
    const T got = *static_cast<const T*>(out);
    if (same_value(got, expected)) return std::nullopt;
    return wrong_element(0, got, show(expected));
  };
}

// Returns g such that 2^g is the lowest set bit of x.
template <class T>
int unit_of(T x) {
  int exponent;
  const T mantissa = std::frexp(x, &exponent);
  const auto whole = static_cast<std::int64_t>(std::ldexp(mantissa, std::numeric_limits<T>::digits));
  return exponent - std::numeric_limits<T>::digits + std::countr_zero(static_cast<std::uint64_t>(whole));
}

template <class T>
Oracle float_sum(const T* in, std::size_t n) {
  using Limits = std::numeric_limits<T>;
  SumByExponent<T> exact;
  bool nan_input = false, plus_infinity = false, minus_infinity = false;
  long double magnitude = 0;  // sum |x| over the finite elements
  int unit = Limits::max_exponent;
  SignOfZero zero;
  for (std::size_t i = 0; i < n; ++i) {
    zero.take(in[i]);
    nan_input |= std::isnan(in[i]);
    if (std::isinf(in[i])) (in[i] > 0 ? plus_infinity : minus_infinity) = true;
    if (!std::isfinite(in[i]) || in[i] == 0) continue;
    exact.take(in[i]);
    magnitude += std::fabs(static_cast<long double>(in[i]));
    unit = std::min(unit, unit_of(in[i]));
  }
  constexpr long double long_double_u = std::numeric_limits<long double>::epsilon();
  magnitude *= 1 + static_cast<long double>(n) * long_double_u;  // the loop above rounds too
  const bool infinite_input = plus_infinity || minus_infinity;
  const T expected = nan_input || (plus_infinity && minus_infinity) ? Limits::quiet_NaN()
                     : plus_infinity                                ? Limits::infinity()
                     : minus_infinity                               ? -Limits::infinity()
                     : zero.minus()                                 ? -T(0)
                                                                    : exact.nearest();
  const bool no_order_rounds = magnitude <= std::ldexp(1.0L, unit + Limits::digits);
  const long double slack = growth<T>(roundings(n)) * magnitude;
  const bool may_overflow = magnitude + slack >= static_cast<long double>(Limits::max());

  return [=](const void* out, const Rung& rung) -> std::optional<std::string> {
    const T got = *static_cast<const T*>(out);
    if (rung.reproducible) {
      if (same_value(got, expected) && (std::isnan(got) || std::signbit(got) == std::signbit(expected)))
        return std::nullopt;
      return wrong_element(0, got, show(expected) + ", bit for bit");
    }
    // Other libraries' sums may start from +0; a subnormal is flushed to a zero of its sign.
    const bool keeps_sign = !rung.peer && (!rung.flushes_subnormals || magnitude == 0);
    if (keeps_sign && !zero.fits(got)) return wrong_element(0, got, show(expected));
    if (same_value(got, expected)) return std::nullopt;
    if (may_overflow && !nan_input && !std::isfinite(got)) return std::nullopt;
    const long double flushed =
        rung.flushes_subnormals && sizeof(T) == 4 ? static_cast<long double>(n) * Limits::min() : 0;
    if (infinite_input || nan_input || (no_order_rounds && flushed == 0) || !std::isfinite(got))
      return wrong_element(0, got, show(expected));
    // The exact sum is within half an ulp of `expected` or, if that is infinite, anywhere beyond the largest finite
    // value.
    if (std::isinf(expected)) return std::nullopt;
    const long double half_ulp = std::fabs(static_cast<long double>(expected)) * Limits::epsilon();
    const long double accepted = slack + half_ulp + flushed;
    if (std::fabs(static_cast<long double>(got) - expected) <= accepted) return std::nullopt;
    return wrong_element(0, got, show(expected), accepted);
  };
}

template <class T>
Oracle float_product(const T* in, std::size_t n) {
  using Wide = std::numeric_limits<long double>;
  bool nan = false, infinity = false, zero = false;
  long double mantissa = 1;  // product = mantissa * 2^exponent, |mantissa| in [1/2, 1)
  std::int64_t exponent = 0;
  long double rising = 0, falling = 0;  // sums of |log2 |x|| over the elements above and below 1
  for (std::size_t i = 0; i < n; ++i) {
    nan |= std::isnan(in[i]);
    infinity |= std::isinf(in[i]);
    zero |= in[i] == 0;
    if (!std::isfinite(in[i]) || in[i] == 0) {
      if (std::signbit(in[i])) mantissa = -mantissa;
      continue;
    }
    int e;
    mantissa = std::frexp(mantissa * in[i], &e);
    exponent += e;
    const long double size = std::log2(std::fabs(static_cast<long double>(in[i])));
    (size > 0 ? rising : falling) += std::fabs(size);
  }
  // One binade of margin for the rounding errors of the products.
  const bool may_overflow = rising + 1 >= std::numeric_limits<T>::max_exponent;
  const bool may_underflow = falling + 1 >= -std::numeric_limits<T>::min_exponent;
  const bool special = nan || infinity || zero;
  const long double sign = mantissa < 0 ? -1 : 1;
  const long double expected =
      nan || (infinity && zero) ? Wide::quiet_NaN()
      : infinity                ? sign * Wide::infinity()
      : zero                    ? 0
             : std::ldexp(mantissa, static_cast<int>(std::clamp<std::int64_t>(exponent, -20000, 20000)));
  // The loop above rounds in long double: twice T's bound covers its error too.
  const long double slack = 2 * growth<T>(roundings(n)) * std::fabs(expected);

  return [=](const void* out, const Rung&) -> std::optional<std::string> {
    const T got = *static_cast<const T*>(out);
    const bool right = std::isnan(expected) ? std::isnan(got)
                       : special            ? static_cast<long double>(got) == expected
                                            : std::fabs(got - expected) <= slack;
    if (right) return std::nullopt;
    if (!std::isnan(expected) && !nan) {
      // In some orders, infinity * 0 gives NaN.
      const bool overflowed = may_overflow && (std::isinf(got) || may_underflow);
      const bool nan_in_some_order = special ? may_overflow || may_underflow : may_overflow && may_underflow;
      if (std::isnan(got) ? nan_in_some_order : !special && (overflowed || (may_underflow && std::isfinite(got))))
        return std::nullopt;
    }
    return wrong_element(0, got, show(static_cast<T>(expected)), special ? 0 : slack);
  };
}

}  // namespace

namespace {

template <class T>
Oracle of_halves(Op op, const T* in, std::size_t n) {
  const std::vector<float> values(in, in + n);
  long double sum = -0.0L;
  for (const float x : values) sum += x;
  return [op, sum = n > 0 ? sum : 0, of_floats = make_oracle(Type::f32, op, values.data(), n)](const void* out,
                                                                                               const Rung& rung) {
    const T got = *static_cast<const T*>(out);
    const float stored = got, judged = op == Op::sum ? unrounded(got, sum) : stored;
    auto mistake = of_floats(&judged, rung);
    // An infinity may come from the last rounding, to T, or from an overflow before it; accept either.
    return mistake && std::isinf(stored) ? of_floats(&stored, rung) : mistake;
  };
}

}  // namespace

Oracle make_oracle(Type type, Op op, const void* in, std::size_t n, const Scalar& initial) {
  if (type == Type::f16 || type == Type::bf16)
    return visit_half(type, [&]<class T>(TypeTag<T>) {
      const T* const values = static_cast<const T*>(in);
      if (!initial) return of_halves(op, values, n);
      std::vector<T> all{initial.as<T>()};
      all.insert(all.end(), values, values + n);
      return of_halves(op, all.data(), all.size());
    });
  return visit_both(type, op, [&]<class T, class O>(TypeTag<T>, O) -> Oracle {
    const T* values = static_cast<const T*>(in);
    if (initial) {
      std::vector<T> all{initial.as<T>()};
      all.insert(all.end(), values, values + n);
      return make_oracle(type, op, all.data(), all.size());
    }
    if constexpr (std::is_floating_point_v<T> && O::operation == Op::sum)
      return float_sum(values, n);
    else if constexpr (std::is_floating_point_v<T> && O::operation == Op::product)
      return float_product(values, n);
    else
      return order_free<T>(op, values, n);
  });
}

Oracle make_oracle(Type type, IndexOf which, const void* in, std::size_t n) {
  return visit_any(type, [&]<class T>(TypeTag<T>) -> Oracle {
    const T* const values = static_cast<const T*>(in);
    const T* first = std::find_if(values, values + n, [](T x) { return x != x; });
    if (first == values + n)
      first = which == IndexOf::min ? std::min_element(values, values + n) : std::max_element(values, values + n);
    const auto expected = static_cast<std::uint64_t>(first - values);
    return [=](const void* out, const Rung&) -> std::optional<std::string> {
      const auto got = *static_cast<const std::uint64_t*>(out);
      if (got == expected) return std::nullopt;
      return wrong_element(0, got, show(expected));
    };
  });
}

}  // namespace upsweep::ladders::reduce
