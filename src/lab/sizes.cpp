#include "lab/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

#include "upsweep/error.h"

namespace upsweep::lab {

namespace {

constexpr int most_bits = 48;  // 2^48 elements: beyond any memory, and times an element's size far from overflow

[[noreturn]] void bad(std::string_view text) {
  throw Error(Code::invalid_argument, fmt::format("'{}' is not a size", text),
              "write 1000, 64K, 3M, 2^20, a list 1K,1M or a range 2^10..2^24");
}

[[noreturn]] void too_large(std::string_view text) {
  throw Error(Code::invalid_argument, fmt::format("{} elements are more than any machine holds", text),
              fmt::format("the largest size taken is 2^{}", most_bits));
}

std::size_t digits(std::string_view text, std::string_view all) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) bad(all);
  return value;
}

std::size_t one_size(std::string_view text) {
  const std::string_view all = text;
  if (text.starts_with("2^")) {
    const std::size_t exponent = digits(text.substr(2), all);
    if (exponent > most_bits) too_large(all);
    return std::size_t{1} << exponent;
  }
  int shift = 0;
  if (!text.empty()) {
    switch (text.back()) {
      case 'K':
      case 'k':
        shift = 10;
        break;
      case 'M':
        shift = 20;
        break;
      case 'G':
        shift = 30;
        break;
      default:
        break;
    }
  }
  if (shift) text.remove_suffix(1);
  const std::size_t value = digits(text, all);
  if (value > (std::size_t{1} << most_bits) >> shift) too_large(all);
  return value << shift;
}

}  // namespace

std::vector<std::size_t> parse_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = std::string_view(text).substr(begin, end - begin);
    if (const auto dots = item.find(".."); dots != item.npos) {
      const std::size_t first = one_size(item.substr(0, dots)), last = one_size(item.substr(dots + 2));
      if (first == 0 || first > last) bad(item);
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

std::string size_text(std::uint64_t n) {
  return n >= 1024 && std::has_single_bit(n) ? fmt::format("2^{}", std::countr_zero(n)) : fmt::format("{}", n);
}

}  // namespace upsweep::lab
