#include "ladders/saxpy/lab/oracle.h"

#include <cmath>

#include "lab/oracle.h"
#include "ladders/saxpy/contract.h"

namespace upsweep::ladders::saxpy {

std::optional<std::string> find_mistake(Type type, const Scalar& a, const void* x, const void* y, const void* out,
                                        std::size_t n) {
  return visit(type, [&]<class T>(TypeTag<T>) -> std::optional<std::string> {
    const T *xs = static_cast<const T*>(x), *ys = static_cast<const T*>(y), *results = static_cast<const T*>(out);
    const Axpy<T> twice_rounded{a.as<T>()};
    for (std::size_t i = 0; i < n; ++i) {
      const T expected = twice_rounded(xs[i], ys[i]);
      if (same_value(results[i], expected)) continue;
      std::string should = show(expected);
      if constexpr (std::is_floating_point_v<T>) {
        const T fused = std::fma(twice_rounded.a, xs[i], ys[i]);
        if (same_value(results[i], fused)) continue;
        should += " or, fused, " + show(fused);
      }
      return wrong_element(i, results[i], should);
    }
    return std::nullopt;
  });
}

}  // namespace upsweep::ladders::saxpy
