// What a call gets that names no rung, as a rung: `default`, which the laboratory can check and time like any other.
#pragma once
#include <string_view>

#include "base/platform.h"
#include "lab/primitive.h"

namespace upsweep::lab {

inline constexpr std::string_view default_name = "default";

// Returns the rung that runs the primitive's choice for each call; null if the primitive has none. It lives as long as
// the program.
const Rung* default_rung(Platform& platform, const Primitive& primitive);

// Returns what the primitive's choose.h says to a case, whose elements need not exist: of any n. Throws
// Error(unsupported) if the primitive has no choice, or no such case.
Choice choice_for(const Platform& platform, const Primitive& primitive, const Case& c);

inline bool is_default(const Rung& rung) { return rung.name == default_name && !rung.peer; }

}  // namespace upsweep::lab
