// Applies operators and conversions to values whose type is known at run time.
#pragma once
#include "base/unsigned_as.h"
#include "upsweep/scalar.h"
#include "upsweep/types.h"

namespace upsweep {

// Returns left op right, both of one type. Halves are combined as float and rounded once.
inline Scalar combine(Op op, const Scalar& left, const Scalar& right) {
  return visit_any(left.type(), [&]<class T>(TypeTag<T>) {
    return visit(op, [&](auto o) -> Scalar {
      using C = Computed<T>;
      return static_cast<T>(o(static_cast<C>(left.as<T>()), static_cast<C>(right.as<T>())));
    });
  });
}

// Returns the value as another type: of integers the low bits, of floats the nearest.
inline Scalar convert(const Scalar& value, Type type) {
  if (value.type() == type) return value;
  double real = 0;
  std::uint64_t bits = 0;
  visit_any(value.type(), [&]<class T>(TypeTag<T>) {
    const auto x = static_cast<Computed<T>>(value.as<T>());
    if constexpr (is_floating<T>)
      real = static_cast<double>(x);
    else
      bits = static_cast<std::uint64_t>(x);
  });
  return visit_any(type, [&]<class T>(TypeTag<T>) -> Scalar {
    if constexpr (is_floating<T>)
      return static_cast<T>(static_cast<Computed<T>>(real));
    else
      return static_cast<T>(bits);
  });
}

// Returns the result of an operator over no elements.
inline Scalar none_of(Op op, Type type) {
  return visit_any(type, [&]<class T>(TypeTag<T>) {
    return visit(op, [&](auto o) -> Scalar { return value_of_none<decltype(o), T>(); });
  });
}

}  // namespace upsweep
