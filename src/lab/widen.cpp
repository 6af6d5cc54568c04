#include "lab/widen.h"

#include <algorithm>

namespace upsweep {
namespace {

template <class F>
auto visit_two(Type from, Type to, F&& f) {
  return visit_any(from, [&](auto a) { return visit_any(to, [&](auto b) { return f(a, b); }); });
}

}  // namespace

bool widens(Type from, Type to) {
  return visit_two(from, to, []<class From, class To>(TypeTag<From>, TypeTag<To>) { return is_wider<From, To>; });
}

void widen(Type from, std::span<const std::byte> elements, Type type, std::byte* to) {
  visit_two(from, type, [&]<class From, class To>(TypeTag<From>, TypeTag<To>) {
    if constexpr (is_wider<From, To>) {
      const auto* const in = reinterpret_cast<const From*>(elements.data());
      std::transform(in, in + elements.size() / sizeof(From), reinterpret_cast<To*>(to),
                     [](From x) { return static_cast<To>(x); });
    }
  });
}

}  // namespace upsweep
