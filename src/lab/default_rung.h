// The choice of a ladder as a rung, `default`: the laboratory can check and time it like any other.
#pragma once
#include <string_view>
#include <vector>

#include "base/platform.h"
#include "lab/primitive.h"

namespace upsweep::lab {

inline constexpr std::string_view default_name = "default";

// Returns the rung that runs the primitive's choice for each call; null if the primitive has none. It lives as long as
// the program.
const Rung* default_rung(Platform& platform, const Primitive& primitive);

// Asks a primitive's choose.h about a case at any number of elements, which need not exist.
class Choices {
 public:
  // Throws Error(unsupported) if the primitive has no choice, or no such case.
  Choices(const Primitive& primitive, const Case& c);
  Choice of(std::size_t n, const Machine& machine) const;

 private:
  // An array of the call: its count is fixed, or so many per element.
  struct Shape {
    Type type;
    std::size_t fixed, per_element;
  };
  static std::vector<Shape> shapes_of(const std::vector<Array>& once, const std::vector<Array>& twice);
  const Primitive& primitive_;
  Case case_;
  std::vector<Shape> in_, out_;
};

inline bool is_default(const Rung& rung) { return rung.name == default_name && !rung.peer; }

}  // namespace upsweep::lab
