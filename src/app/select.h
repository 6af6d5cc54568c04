// What a user names on the command line, turned into what it means; an unknown name is one line with the nearest one.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/platform.h"
#include "base/primitive.h"

namespace upsweep::app {

// The options that choose cases and rungs; the same on every subcommand that has them. Empty: the subcommand's default.
struct Selection {
  std::vector<std::string> primitives, rungs, backends, types, ops, inputs;
  std::string sizes;
  std::vector<std::string> params;  // name=value
};

// Declares them all on a command; sizes are -n.
void declare_selection(CLI::App& command, Selection& selection);

// Each throws Error(invalid_argument) with the nearest name for one that does not exist.
std::vector<const Primitive*> chosen_primitives(const Selection& selection);
const Primitive& chosen_primitive(const std::string& name);
std::vector<Backend> chosen_backends(const Selection& selection, const std::vector<Backend>& otherwise);
std::vector<Type> chosen_types(const Selection& selection, const Primitive& primitive, std::vector<Type> otherwise);
std::vector<Op> chosen_ops(const Selection& selection, const Primitive& primitive, std::vector<Op> otherwise);
std::vector<std::string> chosen_inputs(const Selection& selection, const Primitive& primitive, Type type,
                                       std::vector<std::string> otherwise);
// Those that the primitive knows, and block, grid and threads.
Params chosen_params(const Selection& selection, const Primitive& primitive);

// The rungs of one primitive on these platforms. A name has to exist on one of them at least.
struct RungFilter {
  enum class Arrays { any, device, host } arrays = Arrays::any;  // where they lie
  bool peers = false;
  bool mutants = false;  // deliberate bugs; one that is named is taken all the same
};
std::vector<const Rung*> chosen_rungs(const Selection& selection, const Primitive& primitive, Platform& platform,
                                      const RungFilter& filter);
// Throws when the case is larger than any of these rungs takes (peers do not count: they are there for company).
void require_rung_for(const Primitive& primitive, const std::vector<const Rung*>& rungs, const Case& c);
// Throws for a rung name that none of these platforms has.
void require_known_rungs(const Selection& selection, const std::vector<const Primitive*>& primitives,
                         const std::vector<Platform*>& platforms);

// The candidate with the fewest edits to `name`, or "" when none is near.
std::string nearest(const std::string& name, const std::vector<std::string>& candidates);
// Error(invalid_argument): "no rung named 'smid'; did you mean 'simd'?", with all names in the hint.
Error unknown_name(const std::string& kind, const std::string& name, const std::vector<std::string>& candidates);

}  // namespace upsweep::app
