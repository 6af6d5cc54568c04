#include "ladders/reduce/lab/oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "lab/oracle.h"
#include "ladders/reduce/contract.h"
#include "ladders/reduce/exact.h"

namespace upsweep::ladders::reduce {
namespace {

template <class T>
std::string mismatch(T got, const std::string& expected) {
  return "out[0] is " + show(got) + ", should be " + expected;
}

// n - 1 roundings in a reduction of n elements.
constexpr std::size_t roundings(std::size_t n) { return n ? n - 1 : 0; }

// Everything whose answer does not depend on the order: a plain loop.
template <class T, class O>
class OrderFree final : public Oracle {
 public:
  OrderFree(const T* in, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) value_ = O{}(value_, in[i]);
  }
  std::optional<std::string> check(const void* out, const Rung&) const override {
    const T got = *static_cast<const T*>(out);
    if (same_value(got, value_)) return std::nullopt;
    return mismatch(got, show(value_));
  }

 private:
  T value_ = O::template neutral<T>();
};

template <class T>
class FloatSum final : public Oracle {
 public:
  FloatSum(const T* in, std::size_t n) {
    ExactSum<T> exact{};
    long double magnitude = 0;  // sum |x| over the finite elements
    int unit = std::numeric_limits<T>::max_exponent;
    for (std::size_t i = 0; i < n; ++i) {
      exact.deposit(in[i]);
      if (!std::isfinite(in[i]) || in[i] == 0) continue;
      magnitude += std::fabs(static_cast<long double>(in[i]));
      unit = std::min(unit, unit_of(in[i]));
    }
    constexpr long double long_double_u = std::numeric_limits<long double>::epsilon();
    magnitude *= 1 + static_cast<long double>(n) * long_double_u;  // the loop above rounds too
    value_ = exact.round();
    infinite_input_ = (exact.flags & (ExactSum<T>::saw_plus_infinity | ExactSum<T>::saw_minus_infinity)) != 0;
    nan_input_ = (exact.flags & ExactSum<T>::saw_nan) != 0;
    no_order_rounds_ = magnitude <= std::ldexp(1.0L, unit + std::numeric_limits<T>::digits);
    slack_ = growth<T>(roundings(n)) * magnitude;
    flushed_ = static_cast<long double>(n) * std::numeric_limits<T>::min();
    may_overflow_ = magnitude + slack_ >= static_cast<long double>(std::numeric_limits<T>::max());
  }

  std::optional<std::string> check(const void* out, const Rung& rung) const override {
    const T got = *static_cast<const T*>(out);
    if (rung.reproducible) {
      const bool same = std::isnan(value_) ? std::isnan(got) : bits(got) == bits(value_);
      if (same) return std::nullopt;
      return mismatch(got, show(value_) + ", bit for bit");
    }
    if (same_value(got, value_)) return std::nullopt;
    if (may_overflow_ && !nan_input_ && !std::isfinite(got)) return std::nullopt;
    const long double flushed = rung.flushes_subnormals && sizeof(T) == 4 ? flushed_ : 0;
    if (!infinite_input_ && !nan_input_ && (!no_order_rounds_ || flushed > 0) && std::isfinite(got)) {
      // The truth lies within half an ulp of value_ (and anywhere beyond the format if that is infinite).
      if (std::isinf(value_)) return std::nullopt;
      const long double half_ulp = std::fabs(static_cast<long double>(value_)) * std::numeric_limits<T>::epsilon();
      const long double slack = slack_ + half_ulp + flushed;
      if (std::fabs(static_cast<long double>(got) - value_) <= slack) return std::nullopt;
      return mismatch(got, show(value_) + " +- " + show(static_cast<double>(slack)));
    }
    return mismatch(got, show(value_));
  }

 private:
  static auto bits(T x) { return std::bit_cast<typename FloatFormat<T>::Bits>(x); }

  // g where 2^g is the last bit of x that is set.
  static int unit_of(T x) {
    int exponent;
    const T mantissa = std::frexp(x, &exponent);
    const auto whole = static_cast<std::int64_t>(std::ldexp(mantissa, std::numeric_limits<T>::digits));
    return exponent - std::numeric_limits<T>::digits + std::countr_zero(static_cast<std::uint64_t>(whole));
  }

  T value_;
  long double slack_, flushed_;
  bool infinite_input_, nan_input_, no_order_rounds_, may_overflow_;
};

template <class T>
class FloatProduct final : public Oracle {
 public:
  FloatProduct(const T* in, std::size_t n) {
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
    // One binade of reserve for the rounding errors of the products themselves.
    may_overflow_ = rising + 1 >= std::numeric_limits<T>::max_exponent;
    may_underflow_ = falling + 1 >= -std::numeric_limits<T>::min_exponent;
    const long double sign = mantissa < 0 ? -1 : 1;
    if (nan || (infinity && zero))
      value_ = std::numeric_limits<long double>::quiet_NaN();
    else if (infinity)
      value_ = sign * std::numeric_limits<long double>::infinity();
    else if (zero)
      value_ = 0;
    else
      value_ = std::ldexp(mantissa, static_cast<int>(std::clamp<std::int64_t>(exponent, -20000, 20000)));
    nan_ = nan;
    special_ = nan || infinity || zero;
    // The loop above rounds in long double: twice the bound of T covers it.
    slack_ = 2 * growth<T>(roundings(n)) * std::fabs(value_);
  }

  std::optional<std::string> check(const void* out, const Rung&) const override {
    const T got = *static_cast<const T*>(out);
    const bool right = std::isnan(value_) ? std::isnan(got)
                       : special_         ? static_cast<long double>(got) == value_
                                          : std::fabs(got - value_) <= slack_;
    if (right) return std::nullopt;
    if (!std::isnan(value_) && !nan_) {
      // infinity * 0 inside some order makes a NaN
      const bool overflowed = may_overflow_ && (std::isinf(got) || may_underflow_);
      const bool nan_in_some_order = special_ ? may_overflow_ || may_underflow_ : may_overflow_ && may_underflow_;
      if (std::isnan(got) ? nan_in_some_order : !special_ && (overflowed || (may_underflow_ && std::isfinite(got))))
        return std::nullopt;
    }
    return mismatch(got, show(static_cast<T>(value_)) + (special_ ? "" : " +- " + show(static_cast<double>(slack_))));
  }

 private:
  long double value_, slack_;
  bool nan_, special_, may_overflow_, may_underflow_;
};

}  // namespace

std::unique_ptr<Oracle> make_oracle(Type type, Op op, const void* in, std::size_t n) {
  return visit(type, [&]<class Tag>(Tag) -> std::unique_ptr<Oracle> {
    using T = typename Tag::type;
    const T* values = static_cast<const T*>(in);
    return visit(op, [&]<class O>(O) -> std::unique_ptr<Oracle> {
      if constexpr (std::is_floating_point_v<T> && O::op == Op::sum)
        return std::make_unique<FloatSum<T>>(values, n);
      else if constexpr (std::is_floating_point_v<T> && O::op == Op::product)
        return std::make_unique<FloatProduct<T>>(values, n);
      else
        return std::make_unique<OrderFree<T, O>>(values, n);
    });
  });
}

}  // namespace upsweep::ladders::reduce
