#include "ladders/scan/lab/oracle.h"

#include <cmath>
#include <limits>

#include "lab/oracle.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {
namespace {

template <class T>
std::string mistake(std::size_t i, T got, T expected, long double slack = 0) {
  std::string text = "out[" + std::to_string(i) + "] is " + show(got) + ", should be " + show(expected);
  if (slack > 0) text += " +- " + show(static_cast<double>(slack));
  return text;
}

// Whatever its operator's order, an exact type has one answer.
template <class T, class O>
std::optional<std::string> exact(bool inclusive, const T* in, const T* out, std::size_t n) {
  const O op;
  T prefix = O::template neutral<T>();
  for (std::size_t i = 0; i < n; ++i) {
    const T next = op(prefix, in[i]), expected = inclusive ? next : prefix;
    if (!same_value(out[i], expected)) return mistake(i, out[i], expected);
    prefix = next;
  }
  return std::nullopt;
}

template <class T>
std::optional<std::string> float_sum(bool inclusive, const T* in, const T* out, std::size_t n) {
  constexpr long double u = std::numeric_limits<T>::epsilon() / 2, most = std::numeric_limits<T>::max();
  long double sum = 0, magnitude = 0;  // of the finite elements so far
  bool nan = false, plus = false, minus = false;
  for (std::size_t i = 0; i < n; ++i) {
    const auto take = [&] {
      nan |= std::isnan(in[i]);
      plus |= std::isinf(in[i]) && in[i] > 0;
      minus |= std::isinf(in[i]) && in[i] < 0;
      if (std::isfinite(in[i])) sum += in[i], magnitude += std::fabs(static_cast<long double>(in[i]));
    };
    if (inclusive) take();
    const T got = out[i];
    // Almost always one rounding an addition, which growth() is at least, is enough; growth() itself takes 100 ns.
    if (!nan && !plus && !minus && std::isfinite(got) &&
        std::fabs(got - sum) <= static_cast<long double>(i) * u * magnitude) {
      if (!inclusive) take();
      continue;
    }
    const long double slack = growth<T>(i) * magnitude * (1 + 1.0L / 1024);
    // The last digit of the answer, beside the additions' errors, and the smallest number there is.
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
      return mistake(i, got, expected, std::isfinite(expected) ? slack : 0);
    }
    if (!inclusive) take();
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_mistake(Type type, Op op, bool inclusive, const void* in, const void* out,
                                        std::size_t n) {
  return visit(type, [&]<class Tag>(Tag) {
    using T = typename Tag::type;
    const T *values = static_cast<const T*>(in), *results = static_cast<const T*>(out);
    return visit(op, [&]<class O>(O) {
      if constexpr (std::is_floating_point_v<T> && std::is_same_v<O, Sum>)
        return float_sum<T>(inclusive, values, results, n);
      else
        return exact<T, O>(inclusive, values, results, n);
    });
  });
}

}  // namespace upsweep::ladders::scan
