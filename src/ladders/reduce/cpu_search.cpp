// Searches for the first element with a given value, on one core, in whole vectors. Compiled once per instruction set;
// Highway dispatches at run time.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/reduce/cpu_search.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <type_traits>

#include "ladders/reduce/cpu_extreme.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::reduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
std::size_t find_first(const void* memory, std::size_t n, const void* wanted) {
  const hn::ScalableTag<T> d;
  const std::size_t width = hn::Lanes(d);
  const T* const in = static_cast<const T*>(memory);
  const T value = *static_cast<const T*>(wanted);
  const auto is_same = [value](T x) {
    if constexpr (std::is_floating_point_v<T>)
      if (value != value) return x != x;
    return x == value;
  };
  const auto search = [&](auto&& is_it) HWY_ATTR {
    std::size_t i = 0;
    // Four vectors per branch.
    for (; n - i >= 4 * width; i += 4 * width) {
      const auto m0 = is_it(hn::LoadU(d, in + i)), m1 = is_it(hn::LoadU(d, in + i + width)),
                 m2 = is_it(hn::LoadU(d, in + i + 2 * width)), m3 = is_it(hn::LoadU(d, in + i + 3 * width));
      if (!hn::AllFalse(d, hn::Or(hn::Or(m0, m1), hn::Or(m2, m3)))) break;
    }
    for (; n - i >= width; i += width)
      if (const auto k = hn::FindFirstTrue(d, is_it(hn::LoadU(d, in + i))); k >= 0)
        return i + static_cast<std::size_t>(k);
    for (; i < n; ++i)
      if (is_same(in[i])) break;
    return i;
  };
  if constexpr (std::is_floating_point_v<T>)
    if (value != value) return search([&](auto v) HWY_ATTR { return hn::IsNaN(v); });
  const auto all = hn::Set(d, value);
  return search([&](auto v) HWY_ATTR { return hn::Eq(v, all); });
}

SpanSearch find_search(Type type) {
  return visit(type, [&]<class Tag>(Tag) -> SpanSearch {
    using T = typename Tag::type;
    if constexpr (sizeof(T) < 4)
      return nullptr;
    else if constexpr (std::is_integral_v<T>)
      return &find_first<std::make_unsigned_t<T>>;
    else
      return &find_first<T>;
  });
}

}  // namespace upsweep::ladders::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::reduce {

HWY_EXPORT(find_search);
SpanSearch simd_search(Type type) { return HWY_DYNAMIC_DISPATCH(find_search)(type); }

}  // namespace upsweep::ladders::reduce
#endif  // HWY_ONCE
