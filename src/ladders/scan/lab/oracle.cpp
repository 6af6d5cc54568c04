#include "ladders/scan/lab/oracle.h"

#include <cmath>
#include <limits>

#include "lab/oracle.h"

namespace upsweep::ladders::scan {
namespace {

// The only answer of operators without rounding.
template <class T>
std::optional<std::string> exact(Op op, bool inclusive, const T* in, const T* out, std::size_t n) {
  T prefix = of_no_elements<T>(op);
  for (std::size_t i = 0; i < n; ++i) {
    const T next = i ? combined(op, prefix, in[i]) : in[i], expected = inclusive ? next : prefix;
    if (!same_value(out[i], expected)) return wrong_element(i, out[i], show(expected));
    prefix = next;
  }
  return std::nullopt;
}

template <class T>
std::optional<std::string> float_sum(bool inclusive, const T* in, const T* out, std::size_t n, Zeros zeros) {
  constexpr long double u = std::numeric_limits<T>::epsilon() / 2, most = std::numeric_limits<T>::max();
  long double sum = 0, magnitude = 0;  // of the finite elements so far
  bool nan = false, plus = false, minus = false;
  SignOfZero zero;
  for (std::size_t i = 0; i < n; ++i) {
    const auto take = [&] {
      zero.take(in[i]);
      nan |= std::isnan(in[i]);
      plus |= std::isinf(in[i]) && in[i] > 0;
      minus |= std::isinf(in[i]) && in[i] < 0;
      if (std::isfinite(in[i])) sum += in[i], magnitude += std::fabs(static_cast<long double>(in[i]));
    };
    if (inclusive) take();
    const T got = out[i];
    if (zeros == Zeros::differ && !zero.fits(got)) return wrong_element(i, got, zero.minus() ? "-0" : "0");
    // One rounding per addition, a lower bound of growth(), is nearly always enough; growth() itself takes 100 ns.
    if (!nan && !plus && !minus && std::isfinite(got) &&
        std::fabs(got - sum) <= static_cast<long double>(i) * u * magnitude) {
      if (!inclusive) take();
      continue;
    }
    const long double slack = growth<T>(i) * magnitude * (1 + 1.0L / 1024);
    // Besides the additions' errors: the rounding of the answer, and the smallest number of the type.
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
    if (!inclusive) take();
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_mistake(Type type, Op op, bool inclusive, const void* in, const void* out,
                                        std::size_t n, Zeros zeros) {
  return visit(type, [&]<class T>(TypeTag<T>) {
    const T *values = static_cast<const T*>(in), *results = static_cast<const T*>(out);
    if constexpr (std::is_floating_point_v<T>)
      if (op == Op::sum) return float_sum<T>(inclusive, values, results, n, zeros);
    return exact<T>(op, inclusive, values, results, n);
  });
}

}  // namespace upsweep::ladders::scan
