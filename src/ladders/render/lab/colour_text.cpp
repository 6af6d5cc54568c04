#include "ladders/render/lab/colour_text.h"

#include <algorithm>
#include <charconv>

namespace upsweep::ladders::render {
namespace {

struct Named {
  std::string_view name;
  unsigned rgb;
};
// The sixteen names of HTML 4 and four other common ones.
constexpr Named named[] = {{"black", 0x000000},  {"silver", 0xc0c0c0}, {"gray", 0x808080},    {"white", 0xffffff},
                           {"maroon", 0x800000}, {"red", 0xff0000},    {"purple", 0x800080},  {"fuchsia", 0xff00ff},
                           {"green", 0x008000},  {"lime", 0x00ff00},   {"olive", 0x808000},   {"yellow", 0xffff00},
                           {"navy", 0x000080},   {"blue", 0x0000ff},   {"teal", 0x008080},    {"aqua", 0x00ffff},
                           {"grey", 0x808080},   {"cyan", 0x00ffff},   {"magenta", 0xff00ff}, {"orange", 0xffa500}};

Rgb rgb_of(unsigned value) {
  const auto part = [&](unsigned shift) { return static_cast<float>((value >> shift & 255) / 255.); };
  return {part(16), part(8), part(0)};
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::optional<Rgb> parse_hex(std::string_view digits) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (digits.size() == 6) return rgb_of(value);
  if (digits.size() != 3) return std::nullopt;
  return rgb_of((value >> 8) * 0x110000 + (value >> 4 & 15) * 0x1100 + (value & 15) * 0x11);
}

}  // namespace

std::optional<Rgb> parse_colour(std::string_view text) {
  if (text.starts_with('#')) return parse_hex(text.substr(1));
  for (const Named& known : named)
    if (std::equal(text.begin(), text.end(), known.name.begin(), known.name.end(),
                   [](char a, char b) { return lower(a) == b; }))
      return rgb_of(known.rgb);
  return std::nullopt;
}

}  // namespace upsweep::ladders::render
