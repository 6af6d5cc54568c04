// Numbers as users type them.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace upsweep {

// Parses the whole text as a T: decimal digits ("010" is ten), with an optional minus if T is signed, and with an
// optional point and exponent if T is floating-point. Returns nullopt for anything else, including values that T cannot
// represent and infinities.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>)
    if (!std::isfinite(value)) return std::nullopt;
  return value;
}

// Formats a number with the fewest digits that round-trip. Every NaN is "nan", because its sign carries no information.
template <class T>
std::string number_text(T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(value)) return "nan";
  return fmt::format("{}", value);
}

}  // namespace upsweep
