// The fields of a circle in files: their names, and the values that are refused.
#pragma once
#include <array>
#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "ladders/render/lab/circle_file.h"

namespace upsweep::ladders::render {

// In the order of a .npy; `colour` sets red, green and blue at once.
enum class Field : std::uint8_t { x, y, z, radius, red, green, blue, alpha, colour };
inline constexpr std::array<std::string_view, 9> field_names{"x",     "y",    "z",     "radius", "red",
                                                             "green", "blue", "alpha", "colour"};
constexpr std::string_view name_of(Field field) { return field_names[static_cast<std::size_t>(field)]; }

inline constexpr const char* fields_hint =
    "a circle has x, y and radius, and optionally z, red, green, blue or color, alpha";

// Returns nullopt if no field has this name.
std::optional<Field> field_named(std::string_view name);

// The fields that a circle has been given; detects duplicates.
class GivenFields {
 public:
  // Adds the next name. Returns what is wrong with it, or nullopt.
  std::optional<std::string> add(std::string_view name, std::optional<Field> field);
  // Called after the last name. Returns what is missing or ambiguous, or nullopt.
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
// Sets one field of the circle; returns what is wrong with the value, or nullopt.
std::optional<Mistake> set_field(WideCircle& circle, Field field, double value, ColourRange colours);
std::optional<Mistake> set_colour(WideCircle& circle, std::string_view text);

}  // namespace upsweep::ladders::render
