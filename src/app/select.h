// Resolves the names on a command line; the error for an unknown name suggests the nearest one.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/platform.h"
#include "lab/primitive.h"
#include "lab/terminal.h"

namespace upsweep::app {

// The options that select cases and rungs, the same on every subcommand that has them. An empty one stands for the
// subcommand's default.
struct CaseOptions {
  std::vector<std::string> primitives, rungs, backends, types, ops, inputs;
  std::string sizes;
  std::vector<std::string> params;  // name=value
  std::string device;               // GPU that the emulators model; empty: an H200
};

// Declares these options on a command; sizes are -n. Omits --backend for a command that always uses the same backend.
void declare_case_options(CLI::App& command, CaseOptions& options, bool with_backend = true);

// declare_device() adds --device to a command that emulates. emulate_device() makes the emulators model that device; it
// must be called before rungs are chosen, and throws Error(invalid_argument) if no device has that name.
void declare_device(CLI::App& command, CaseOptions& options);
void emulate_device(const CaseOptions& options);

// Returns the text that `upsweep list` prints about a primitive.
std::string description_of(const Primitive& primitive, const lab::Terminal& terminal);

// The cases for which a command offers words. any: all; of_run: those on a user's file, without peers and mutants, on
// the CPU unless --backend says otherwise; of_explain: emulated kernels.
enum class Offered { any, of_run, of_explain };
// Offer completions for an option's values: names that belong to the primitives on the command line.
CLI::Option* offer_primitives(CLI::Option*, Offered = Offered::any);
CLI::Option* offer_rungs(CLI::Option*, Offered = Offered::any);
CLI::Option* offer_backends(CLI::Option*);
CLI::Option* offer_types(CLI::Option*);
CLI::Option* offer_operations(CLI::Option*);
CLI::Option* offer_params(CLI::Option*, Offered = Offered::any);

// Returns the fields of Tuning that rungs of the primitive read.
std::vector<const TuningField*> tuning_of(const Primitive& primitive);

// Return what the options name. Throw Error(invalid_argument), with the nearest name, for a name that does not exist.
// If none is named, they return:
//   chosen_primitives()  all that take one of the named types, without the ceilings
//   chosen_backends()    `otherwise`
//   chosen_types()       the types of `otherwise` that the primitive takes, or else the first that it takes
std::vector<const Primitive*> chosen_primitives(const CaseOptions& options);
const Primitive& chosen_primitive(const std::string& name);
std::vector<Backend> chosen_backends(const CaseOptions& options, const std::vector<Backend>& otherwise);
std::vector<Type> chosen_types(const CaseOptions& options, const Primitive& primitive, std::vector<Type> otherwise);
// Returns the named operations, or `otherwise` if none is named.
std::vector<Operation> chosen_operations(const CaseOptions& options, const Primitive& primitive,
                                         std::vector<Operation> otherwise);
// Returns the named inputs; by default those with a fixed size, or else "uniform".
std::vector<std::string> chosen_inputs(const CaseOptions& options, const Primitive& primitive, Type type);
// Returns the given sizes; by default the input's fixed size, or else `otherwise`, written as on the command line.
std::vector<std::size_t> chosen_sizes(const CaseOptions& options, const Primitive& primitive, const std::string& input,
                                      const std::string& otherwise);
// Sets the given parameters on a case: those of the primitive, and tuning that rungs of the backend read.
void set_params(const CaseOptions& options, const Primitive& primitive, Backend backend, Case& c);
// Throws if a parameter is a tuning value that no rung of these backends, or none of these rungs, reads.
void require_readers(const CaseOptions& options, const std::vector<Backend>& backends,
                     const std::vector<const Rung*>& rungs);

// Selects the rungs of a primitive that are chosen without being named.
struct RungFilter {
  enum class Arrays { any, device, host } arrays = Arrays::any;  // by the memory of their arrays
  bool peers = false;
  bool mutants = false;  // deliberate bugs; a named one is always chosen
  bool choice = false;   // if no rungs are named: adds `default`, which runs the rung that the library would choose
};
std::vector<const Rung*> chosen_rungs(const CaseOptions& options, const Primitive& primitive, Platform& platform,
                                      const RungFilter& filter);
// Throws if the case is too large for all of these rungs (peers do not count).
void require_rung_for(const Primitive& primitive, const std::vector<const Rung*>& rungs, const Case& c);
// Throws if a named rung exists on none of these platforms; the hint lists the backends that have it.
void require_known_rungs(const CaseOptions& options, const std::vector<const Primitive*>& primitives,
                         const std::vector<Platform*>& platforms);

// Returns the candidate with the fewest edits to `name`, or "" if none is close.
std::string nearest(const std::string& name, const std::vector<std::string>& candidates);
// Returns Error(invalid_argument): "no rung named 'smid'; did you mean 'simd'?", with all names in the hint.
Error unknown_name(const std::string& kind, const std::string& name, const std::vector<std::string>& candidates);

}  // namespace upsweep::app
