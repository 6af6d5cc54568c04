// The fields of a circle in files: their names, and the values that are refused.
#pragma once
#include <array>
#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "ladders/render/lab/circle_file.h"

namespace upsweep::ladders::render {

// The fields in the order of a .npy file; `colour` sets red, green and blue together.
enum class Field : std::uint8_t { x, y, z, radius, red, green, blue, alpha, colour };
inline constexpr std::array<std::string_view, 9> field_names{"x",     "y",    "z",     "radius", "red",
                                                             "green", "blue", "alpha", "colour"};
constexpr std::string_view name_of(Field field) { return field_names[static_cast<std::size_t>(field)]; }

inline constexpr const char* fields_hint =
    "a circle has x, y and radius, and optionally z, red, green, blue or color, alpha";

// Returns the field with this name, or nullopt if there is none.
std::optional<Field> field_named(std::string_view name);

// The fields that a circle has been given; detects duplicates.
class GivenFields {
 public:
  // Adds the next name. Returns an error message if its field is a duplicate, otherwise nullopt.
  std::optional<std::string> add(std::string_view name, std::optional<Field> field);
  // Called after the last name. Returns an error message if a field is missing or ambiguous, otherwise nullopt.
  std::optional<std::string> mistake() const;

 private:
  bool has(Field field) const { return given_[static_cast<std::size_t>(field)]; }
  std::bitset<field_names.size()> given_;
  bool r_ = false, g_or_b_ = false;
};

// An error in a value, with a hint.
struct Mistake {
  std::string what, hint;
};
// Sets one field of the circle. Returns a Mistake if the value is refused, otherwise nullopt.
std::optional<Mistake> set_field(WideCircle& circle, Field field, double value, ColourRange colours);
std::optional<Mistake> set_colour(WideCircle& circle, std::string_view text);

}  // namespace upsweep::ladders::render
