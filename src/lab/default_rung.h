// The rung `default`, which runs the rung that a ladder's choose() picks, so that the laboratory can check and time the
// choice like any other rung.
#pragma once
#include <string_view>
#include <vector>

#include "base/platform.h"
#include "lab/primitive.h"

namespace upsweep::lab {

inline constexpr std::string_view default_name = "default";

// Returns the primitive's default rung on this platform; null if the primitive has no choose(). The rung lives until
// the program ends.
const Rung* default_rung(Platform& platform, const Primitive& primitive);

// Asks a primitive's choose() for the rung of a case at any n, without allocating n elements.
class Choices {
 public:
  // Throws Error(unsupported) if the primitive has no choose() or the case cannot exist.
  Choices(const Primitive& primitive, const Case& c);
  Choice of(std::size_t n, const Machine& machine) const;

 private:
  // The size of one of the call's arrays: a fixed count plus a count per element.
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
