#include "ladders/saxpy/lab/oracle.h"

#include <cmath>

#include "lab/oracle.h"
#include "ladders/saxpy/contract.h"

namespace upsweep::ladders::saxpy {
namespace {

template <class T>
std::optional<std::string> find(T a, const T* x, const T* y, const T* out, std::size_t n) {
  const Axpy<T> twice_rounded{a};
  for (std::size_t i = 0; i < n; ++i) {
    const T expected = twice_rounded(x[i], y[i]);
    if (same_value(out[i], expected)) continue;
    std::string should = show(expected);
    if constexpr (std::is_floating_point_v<T>) {
      const T fused = std::fma(a, x[i], y[i]);
      if (same_value(out[i], fused)) continue;
      should += " or, fused, " + show(fused);
    }
    return wrong_element(i, out[i], should);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_mistake(Type type, const Scalar& a, const void* x, const void* y, const void* out,
                                        std::size_t n) {
  return visit(type, [&]<class T>(TypeTag<T>) {
    return find(a.as<T>(), static_cast<const T*>(x), static_cast<const T*>(y), static_cast<const T*>(out), n);
  });
}

}  // namespace upsweep::ladders::saxpy
