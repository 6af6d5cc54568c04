#include "lab/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "lab/number.h"
#include "upsweep/error.h"

namespace upsweep::lab {

namespace {

constexpr int most_bits = 48;  // 2^48 elements: beyond any memory, and no overflow when multiplied by an element's size

// A quantity that an option takes, and its accepted notation.
struct Quantity {
  std::string_view name, unit, hint;
  bool bytes;
};
constexpr Quantity elements{"size", "elements", "write 1000, 64K, 1e6, 2^20, a list 1K,1M or a range 2^10..2^24",
                            false};
constexpr Quantity memory{"size in bytes", "bytes", "write 500M, 8G, 1.5GiB, or 8GB for 8 * 10^9", true};

[[noreturn]] void bad(std::string_view text, const Quantity& of) {
  throw Error(Code::invalid_argument, fmt::format("'{}' is not a {}", text, of.name), std::string(of.hint));
}

[[noreturn]] void too_large(std::string_view text, const Quantity& of) {
  throw Error(Code::invalid_argument, fmt::format("{} {} are more than any machine holds", text, of.unit),
              fmt::format("the largest accepted size is 2^{}", most_bits));
}

// Returns the factor of a unit, or nullopt if it is unknown. Units are "", K, M, G and T, and for bytes also B, KiB,
// ... and KB, ..., in upper or lower case.
std::optional<double> factor_of(std::string_view unit, const Quantity& of) {
  constexpr std::string_view letters = "kmgt";
  std::string lower(unit);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower.empty() || (of.bytes && lower == "b")) return 1;
  const std::size_t power = letters.find(lower[0]) + 1;
  const std::string_view rest = std::string_view(lower).substr(1);
  if (power == 0 || !(rest.empty() || (of.bytes && (rest == "b" || rest == "ib")))) return std::nullopt;
  return std::pow(rest == "b" ? 1000. : 1024., power);
}

std::size_t one_size(std::string_view text, const Quantity& of = elements) {
  if (text.starts_with("2^")) {
    const auto exponent = parse_number<unsigned>(text.substr(2));
    if (!exponent) bad(text, of);
    if (*exponent > most_bits) too_large(text, of);
    return std::size_t{1} << *exponent;
  }
  if (text.empty() || text[0] < '0' || text[0] > '9') bad(text, of);  // rejects signs, inf and nan
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto factor = factor_of(text.substr(static_cast<std::size_t>(end - text.data())), of);
  if (!factor) bad(text, of);
  value *= *factor;
  if (error != std::errc{}) bad(text, of);  // the exponent exceeds a double's range
  if (value > std::ldexp(1, most_bits)) too_large(text, of);
  if (!of.bytes && value != std::floor(value)) bad(text, of);
  return static_cast<std::size_t>(value);  // exact: a double holds every whole number up to 2^53
}

}  // namespace

std::vector<std::size_t> parse_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = std::string_view(text).substr(begin, end - begin);
    if (const auto dots = item.find(".."); dots != item.npos) {
      const std::size_t first = one_size(item.substr(0, dots)), last = one_size(item.substr(dots + 2));
      if (first == 0 || first > last) bad(item, elements);
      for (std::size_t n = first; n <= last; n *= 2) sizes.push_back(n);
    } else {
      sizes.push_back(one_size(item));
    }
    begin = end + 1;
  }
  return sizes;
}

std::size_t parse_size(std::string_view option, const std::string& text) {
  const auto sizes = parse_sizes(text);
  if (sizes.size() == 1) return sizes[0];
  throw Error(Code::invalid_argument, fmt::format("{} {}: one size is needed", option, text),
              "write 1000, 64K or 2^20");
}

std::size_t parse_bytes(std::string_view option, const std::string& text) {
  try {
    return one_size(text, memory);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", option, error.what()), error.hint());
  }
}

std::string size_text(std::uint64_t n) {
  return n >= 1024 && std::has_single_bit(n) ? fmt::format("2^{}", std::countr_zero(n)) : fmt::format("{}", n);
}

}  // namespace upsweep::lab
