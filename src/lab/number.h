// Numbers as a user writes them.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace upsweep {

// Returns the whole text as a T, or nothing: it is decimal digits ("010" is ten), after a minus if T has negative
// numbers; for a T of floating point also with a point and an exponent, but finite. Numbers beyond T are none.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>)
    if (!std::isfinite(value)) return std::nullopt;
  return value;
}

// Returns a number with the shortest digits that read back as the same; every NaN is "nan", whatever its sign, which
// says nothing.
template <class T>
std::string number_text(T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(value)) return "nan";
  return fmt::format("{}", value);
}

}  // namespace upsweep
