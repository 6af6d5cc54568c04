// Shared by the oracles of several primitives.
#pragma once
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>

namespace upsweep {

// Returns a value as text with all its digits, for messages.
template <class T>
std::string show(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*g", std::numeric_limits<T>::max_digits10, static_cast<double>(value));
    return text;
  } else {
    return std::to_string(value);
  }
}

// True if equal as values: all NaNs are equal, and so are the two zeros.
template <class T>
bool same_value(T a, T b) {
  return a == b || (a != a && b != b);
}

// Returns the worst-case relative error of `roundings` roundings to T, each of at most u (2^-24, 2^-53):
// (1 + u)^roundings - 1; Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.4.
template <class T>
long double growth(std::size_t roundings) {
  const long double u = std::numeric_limits<T>::epsilon() / 2;
  return std::expm1(static_cast<long double>(roundings) * std::log1p(u));
}

}  // namespace upsweep
