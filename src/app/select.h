// Resolves the names on a command line; an unknown name gives one line with the nearest one.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/platform.h"
#include "lab/primitive.h"
#include "lab/terminal.h"

namespace upsweep::app {

// The options that choose cases and rungs; the same on every subcommand that has them. Empty: the subcommand's default.
struct Selection {
  std::vector<std::string> primitives, rungs, backends, types, ops, inputs;
  std::string sizes;
  std::vector<std::string> params;  // name=value
  std::string device;               // that the emulators stand for; empty: an H200
};

// Declares them all on a command; sizes are -n. A command that always uses the same backend has no --backend.
void declare_selection(CLI::App& command, Selection& selection, bool with_backend = true);

// The option --device of a command that emulates; and what it says, which has to be done before rungs are chosen. Throws
// Error(invalid_argument) if no device has the name.
void declare_device(CLI::App& command, Selection& selection);
void emulate_device(const Selection& selection);

// Returns the text that `upsweep list` prints about a primitive.
std::string description_of(const Primitive& primitive, const lab::Terminal& terminal);

// The cases that a command accepts: any; those on a user's file, without peers and deliberate bugs, on the CPU unless
// --backend says otherwise; or emulated kernels.
enum class Offered { any, of_run, of_explain };
// Complete an option of such names, for the primitives that the command line names.
CLI::Option* offer_primitives(CLI::Option*, Offered = Offered::any);
CLI::Option* offer_rungs(CLI::Option*, Offered = Offered::any);
CLI::Option* offer_backends(CLI::Option*);
CLI::Option* offer_types(CLI::Option*);
CLI::Option* offer_operations(CLI::Option*);
CLI::Option* offer_params(CLI::Option*, Offered = Offered::any);

// The fields of Tuning that rungs of the primitive read.
std::vector<const TuningField*> tuning_of(const Primitive& primitive);

// Each throws Error(invalid_argument) with the nearest name if a name does not exist. All primitives, if none is named:
// those that take one of the named types.
std::vector<const Primitive*> chosen_primitives(const Selection& selection);
const Primitive& chosen_primitive(const std::string& name);
std::vector<Backend> chosen_backends(const Selection& selection, const std::vector<Backend>& otherwise);
std::vector<Type> chosen_types(const Selection& selection, const Primitive& primitive, std::vector<Type> otherwise);
// Returns the named operations, or `otherwise` if none is named.
std::vector<Operation> chosen_operations(const Selection& selection, const Primitive& primitive,
                                         std::vector<Operation> otherwise);
// Returns the named inputs; by default "uniform", or those that have a size of their own.
std::vector<std::string> chosen_inputs(const Selection& selection, const Primitive& primitive, Type type);
// Returns the sizes given; by default the input's own, or else `otherwise`, written as on the command line.
std::vector<std::size_t> chosen_sizes(const Selection& selection, const Primitive& primitive, const std::string& input,
                                      const std::string& otherwise);
// Sets the selection's parameters on a case: those of the primitive, and tuning that rungs of the backend read.
void set_params(const Selection& selection, const Primitive& primitive, Backend backend, Case& c);
// Throws if a parameter is of the tuning that no rung of these backends reads, or none of these rungs.
void require_readers(const Selection& selection, const std::vector<Backend>& backends,
                     const std::vector<const Rung*>& rungs);

// Which rungs of a primitive to choose besides those that are named.
struct RungFilter {
  enum class Arrays { any, device, host } arrays = Arrays::any;  // where they are
  bool peers = false;
  bool mutants = false;  // deliberate bugs; a named one is always chosen
  bool choice = false;   // the default, which may also be named
};
std::vector<const Rung*> chosen_rungs(const Selection& selection, const Primitive& primitive, Platform& platform,
                                      const RungFilter& filter);
// Throws if the case is larger than any of these rungs takes (peers do not count).
void require_rung_for(const Primitive& primitive, const std::vector<const Rung*>& rungs, const Case& c);
// Throws if a named rung exists on none of these platforms; says on which others it does.
void require_known_rungs(const Selection& selection, const std::vector<const Primitive*>& primitives,
                         const std::vector<Platform*>& platforms);

// Returns the candidate with the fewest edits to `name`, or "" if none is near.
std::string nearest(const std::string& name, const std::vector<std::string>& candidates);
// Error(invalid_argument): "no rung named 'smid'; did you mean 'simd'?", with all names in the hint.
Error unknown_name(const std::string& kind, const std::string& name, const std::vector<std::string>& candidates);

}  // namespace upsweep::app
