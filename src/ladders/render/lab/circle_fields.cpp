#include "ladders/render/lab/circle_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "files/quoted.h"
#include "ladders/render/lab/colour_text.h"

namespace upsweep::ladders::render {
namespace {

constexpr Field colours[] = {Field::red, Field::green, Field::blue};
constexpr double largest_colour = 0x1p60;  // as the contract says

// Returns the first 8 characters of a name in lower case. No field of a circle has a longer name.
std::string lower(std::string_view name) {
  std::string text(name.substr(0, 8));
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool is_colour(Field field) { return std::find(std::begin(colours), std::end(colours), field) != std::end(colours); }

}  // namespace

std::optional<Field> field_named(std::string_view name) {
  const std::string text = name.size() <= 8 ? lower(name) : "";
  if (text == "r") return Field::radius;
  if (text == "color") return Field::colour;
  const auto found = std::find(field_names.begin(), field_names.end(), text);
  if (found == field_names.end()) return std::nullopt;
  return static_cast<Field>(found - field_names.begin());
}

std::optional<std::string> GivenFields::add(std::string_view name, std::optional<Field> field) {
  const std::string text = lower(name);
  r_ |= text == "r", g_or_b_ |= text == "g" || text == "b";
  if (!field) return std::nullopt;
  if (has(*field))
    return text == name_of(*field) ? text + " is given twice"
                                   : fmt::format("{} is {}, which is given already", in_quotes(name), name_of(*field));
  const bool any_colour = std::any_of(std::begin(colours), std::end(colours), [&](Field f) { return has(f); });
  if ((*field == Field::colour && any_colour) || (is_colour(*field) && has(Field::colour)))
    return fmt::format("{}: a colour is red, green and blue in one, which are given too", in_quotes(name));
  given_.set(static_cast<std::size_t>(*field));
  return std::nullopt;
}

std::optional<std::string> GivenFields::mistake() const {
  if (r_ && g_or_b_) return "r beside g or b may be the radius, or red";
  for (const Field required : {Field::x, Field::y, Field::radius})
    if (!has(required)) return fmt::format("{} is missing", name_of(required));
  return std::nullopt;
}

std::optional<Mistake> set_field(WideCircle& circle, Field field, double value, ColourRange range) {
  const auto wrong = [&](const char* what, const char* hint) {
    return Mistake{fmt::format("{} {}", std::isnan(value) ? NAN : value, what), hint};  // NaN without its sign
  };
  if (!std::isfinite(value)) return wrong("is not finite", "leave such circles out");
  const auto number = static_cast<float>(value);
  switch (field) {
    case Field::x:
      circle.x = value;
      break;
    case Field::y:
      circle.y = value;
      break;
    case Field::radius:
      if (value < 0) return wrong("is negative", "a radius is 0 or more");
      circle.radius = value;
      break;
    case Field::z:
      if (std::fabs(value) > std::numeric_limits<float>::max()) return wrong("is too large", "z is 0 to 1");
      circle.z = number;
      break;
    case Field::alpha:
      if (!(value >= 0 && value <= 1)) return wrong("is not in [0, 1]", "alpha is 0 to 1: divide by the largest one");
      circle.alpha = number;
      break;
    default:
      if (range == ColourRange::of_bytes && outside_of_bytes(value))
        return wrong("is not in [0, 1]", "colours are 0 to 1: divide bytes by 255; .pfm, .exr and .npy keep others");
      if (std::fabs(value) > largest_colour) return wrong("exceeds 2^60", "colours are 0 to 1");
      (field == Field::red ? circle.red : field == Field::green ? circle.green : circle.blue) = number;
  }
  return std::nullopt;
}

std::optional<Mistake> set_colour(WideCircle& circle, std::string_view text) {
  const auto colour = parse_colour(text);
  if (!colour) return Mistake{in_quotes(text) + " is not a colour", colour_hint};
  circle.red = (*colour)[0], circle.green = (*colour)[1], circle.blue = (*colour)[2];
  return std::nullopt;
}

}  // namespace upsweep::ladders::render
