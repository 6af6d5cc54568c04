// Named values of a case: scalars of the contract, parameters that shape the input, and tuning. They are text on the
// command line and in records, and typed everywhere else.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/contract.h"

namespace upsweep {

// Parameter values, in the order given.
class Settings {
 public:
  struct Item {
    const Parameter* parameter;
    Scalar value;
  };
  // Sets or replaces the parameter's value.
  void set(const Parameter& parameter, const Scalar& value);
  // Returns null if the parameter has no value.
  const Scalar* find(std::string_view name) const;
  template <class T>
  T get(std::string_view name, T otherwise) const {
    const Scalar* const value = find(name);
    return value ? value->as<T>() : otherwise;
  }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  bool empty() const { return items_.empty(); }

 private:
  std::vector<Item> items_;
};

// Convert a parameter's value to text and back: digits that round-trip, true or false, or a choice's name. `type` is
// the type of a parameter that is an element or a result. parse_value() throws Error(invalid_argument), with the values
// that the parameter takes.
std::string text_of(const Settings::Item& item);
Scalar parse_value(const Parameter& parameter, Type type, const std::string& text);

// Describes the values that a parameter takes: "a whole number from 1 to 1024".
std::string takes(const Parameter& parameter);

// A field of Tuning by name.
struct TuningField {
  std::string_view name;
  std::string_view meaning;  // one line, with the default
  std::uint64_t least, most;
  bool of_cpu;              // read by CPU rungs; otherwise by GPU rungs, emulated or not
  bool of_every_primitive;  // if false, read only by rungs of primitives that list it in Primitive::tuning
  bool from_host;           // read only by rungs that take arrays in host memory
  std::uint64_t (*get)(const Tuning&);
  bool (*was_read)(const Tuning&);
  void (*set)(Tuning&, std::uint64_t);
};
std::span<const TuningField> tuning_fields();
std::string takes(const TuningField& field);
// Parses the value of a field and sets it. Throws like parse_value().
void parse_tuning(Tuning& tuning, const TuningField& field, const std::string& text);

// Returns the tuning of a finished call, without the values that its rung did not read.
Tuning only_read(const Tuning& tuning);

// Returns all values of settings and tuning, as names and texts.
std::vector<std::pair<std::string, std::string>> texts_of(const Settings& settings, const Tuning& tuning);

}  // namespace upsweep
