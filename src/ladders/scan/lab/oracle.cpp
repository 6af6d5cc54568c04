#include "ladders/scan/lab/oracle.h"

#include <cmath>
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
    // roundings * u, a lower bound of growth(), nearly always suffices; growth() takes 100 ns.
    if (!nan && !plus && !minus && std::isfinite(got) &&
        std::fabs(got - sum) <= static_cast<long double>(roundings) * u * magnitude) {
      if (!inclusive) take(in[i]);
      continue;
    }
    const long double slack = growth<T>(roundings) * magnitude * (1 + 1.0L / 1024);
    // Besides the errors of the additions: the rounding of the result, and the smallest subnormal.
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

}  // namespace

std::optional<std::string> find_mistake(Type type, Op op, bool inclusive, const void* in, const void* out,
                                        std::size_t n, Zeros zeros, const Scalar& initial) {
  return visit(type, [&]<class T>(TypeTag<T>) {
    std::optional<T> first;
    if (initial) first = initial.as<T>();
    const T *values = static_cast<const T*>(in), *results = static_cast<const T*>(out);
    if constexpr (std::is_floating_point_v<T>)
      if (op == Op::sum) return float_sum<T>(inclusive, values, results, n, first, zeros);
    return exact<T>(op, inclusive, values, results, n, first);
  });
}

}  // namespace upsweep::ladders::scan
