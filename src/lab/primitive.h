// The laboratory's view of a primitive: its cases, their oracle, and the minimum traffic. Each ladder's folder provides
// one Primitive (lab/cases.cpp); the code of the laboratory depends on no particular primitive.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/contract.h"
#include "base/rung.h"
#include "cpu/host_memory.h"
#include "files/spool.h"
#include "lab/inputs.h"
#include "lab/probe.h"
#include "lab/settings.h"

namespace upsweep {

class Platform;
struct Primitive;
namespace lab {
struct Record;
struct Terminal;
}  // namespace lab

// One case of a primitive: type, operation, n, input and parameters.
struct Case {
  Type type = Type::f32;  // the main input's
  Operation operation{};
  std::size_t n = 0;
  std::string input = "uniform";  // a named input (lab/inputs.h)
  std::uint64_t seed = 1;
  Settings settings{};  // scalars of the call, and parameters that shape the input
  Tuning tuning{};
};

// The minimum bytes that any implementation of the contract moves, and the ceiling to compare with.
struct Traffic {
  std::size_t bytes = 0;
  std::string_view ceiling;  // "read", "write", "copy", "triad", "link", "launch"
};

// Fill byte for outputs before a call: neither zero nor a small number in any type, so that unwritten elements show.
inline constexpr std::byte poison{0xCD};

// Returns the n elements of a case's main input: a copy of `data`, or generated if `data` is empty. Throws
// Error(invalid_argument) if `data` is not empty and not n elements.
std::unique_ptr<std::byte[]> main_input(const Case& c, std::span<const std::byte> data);

// One concrete case: host inputs, the outputs' shapes, and the check against the oracle.
class Problem {
 public:
  Problem(const Primitive& primitive, const Case& c, std::span<const std::byte> data)
      : primitive_(primitive), case_(c), values_(main_input(c, data)) {}
  virtual ~Problem() = default;
  // Returns the inputs, in host memory, in the order of Call::in. Defaults to the main input alone.
  virtual std::vector<Array> inputs() const { return {input_array(case_.type, case_.n, values())}; }
  // Returns the outputs that the contract specifies, in the order of Call::out. `data` is null for an output with
  // separate memory, and the overwritten input's data for an in-place output.
  std::vector<Array> outputs() const;
  // Returns nullopt if the outputs are right for this rung (exact, or within its error bound); otherwise one line: the
  // first wrong element, its value and the expected one. `outputs` are host copies; before the call, every byte of the
  // outputs that are not in place was `poison`.
  virtual std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const = 0;
  // Returns the case's traffic. It depends on the rung only if the rung's arrays are in host memory, or if the rung is
  // a ceiling: ceilings move different arrays. Defaults to all bytes of inputs and outputs, compared with
  // ceiling(rung).
  virtual Traffic traffic(const Rung& rung) const;

 protected:
  // Sets the output properties that the contract leaves to the caller: type, count, or the input that an output
  // overwrites.
  virtual void choose_outputs(Call&) const {}
  // Returns the case's call with its arrays in host memory: the inputs, and these outputs.
  Call host_call(std::span<const void* const> outputs = {}) const;
  // Throws Error(invalid_argument) if the contract rejects the case's call.
  void require_valid() const;
  // Returns a shape parameter's value, or its default.
  template <class T>
  T shape(std::string_view name) const;
  const Primitive& primitive_;
  virtual std::string_view ceiling(const Rung&) const { return "copy"; }
  // The main input's elements.
  const void* values() const { return values_.get(); }
  void* values() { return values_.get(); }
  const Case case_;

 private:
  std::unique_ptr<std::byte[]> values_;
};

// The shape parameter that sets the type of a case's indices, offsets or lengths. index_type_of() returns its value or,
// if it is not set, a type that the contract replaces by its preferred one.
inline constexpr std::string_view index_type_names[] = {"u32", "u64", "i32", "i64"};
inline constexpr Parameter index_type_shape{.name = "index_type",
                                            .kind = Parameter::Kind::choice,
                                            .meaning = "of the indices, offsets or lengths that are written",
                                            .choices = index_type_names,
                                            .initial_in_words = "u32, or u64 for 2^32 elements or more"};
Type index_type_of(const Case& c);

// The usual value of Primitive::problem.
template <class P>
std::unique_ptr<Problem> make_problem(const Primitive& primitive, const Case& c, std::span<const std::byte> data) {
  return std::make_unique<P>(primitive, c, data);
}

inline constexpr std::size_t largest_whole_input = std::size_t{16} << 20;  // bytes; default of Beside::largest

// Processes an input chunk by chunk, so that it may exceed memory, and produces the contract's result for the whole
// input. Most streamers derive from RungStreamer (lab/stream.h).
class Streamer {
 public:
  explicit Streamer(const Case& c) : case_(c) {}
  virtual ~Streamer() = default;
  // Receives elements of an output, in order, once they are final. Output 0 is the main one, 1 and up are the others.
  struct Sink {
    std::function<void(std::span<const std::byte> elements, std::size_t output)> put;
    void operator()(std::span<const std::byte> elements, std::size_t output = 0) const { put(elements, output); }
  };
  // An input or output besides the main one.
  struct Beside {
    std::string_view name;
    std::optional<Type> type;                   // empty for an input: its file's type
    bool optional = false;                      // may be omitted from a run
    std::size_t largest = largest_whole_input;  // bytes, of a whole input
    bool any_type = false;  // for whole inputs: `type` applies only to raw numbers; other files state theirs
  };
  // Returns the inputs that have one element per element of the main input: "y" of saxpy.
  virtual std::vector<Beside> other_inputs() const { return {}; }
  // Returns the inputs that must be in memory as a whole, up to Beside::largest bytes each: "edges" of histogram.
  // Before the first chunk, take_whole() receives each of them with its index and element type. It throws
  // Error(invalid_argument) if the input contradicts the case or the contract.
  virtual std::vector<Beside> whole_inputs() const { return {}; }
  virtual void take_whole(std::size_t, std::vector<std::byte>, Type) {}
  // Limits for a streamer whose first output depends on all of its input.
  struct Storage {
    std::size_t bytes = available_host_bytes() / 4 * 3;  // memory limit
    std::string folder = spool_folder();                 // for a temporary file, if memory does not suffice
    std::optional<std::uint64_t> elements{};             // the main input's count, if known
  };
  virtual void use(const Storage&) {}
  // Receives the types of the other_inputs() present in this run, before the outputs are queried.
  virtual void take_types(std::span<const Type>) {}
  // Return the main output's type, and its number of elements for an input of `n` elements (nullopt: unknown in
  // advance). Both default to the main input's.
  virtual Type output_type() const { return case_.type; }
  virtual std::optional<std::uint64_t> output_count(std::optional<std::uint64_t> n) const { return n; }
  // True if the main output has one element per element of the main input, in the same order, and so the same shape.
  virtual bool elementwise() const { return false; }
  // True if the outputs do not depend on the order of the main input's elements, except for rounding.
  virtual bool any_order() const { return false; }
  // Returns the bytes of all outputs for an input of n elements if they are written only after the whole input has been
  // read, so that progress includes the writing; 0 if they are written while the input is read.
  virtual std::uint64_t bytes_after_input(std::uint64_t) const { return 0; }
  // Returns the outputs besides the main one, which may have any length: "lengths" of run_length_encode.
  virtual std::vector<Beside> other_outputs() const { return {}; }
  // Takes the next elements of the main input and equally many of each other input, in host memory, aligned to 64
  // bytes. Passes output elements that are final to the sink. Throws Error.
  using Chunks = std::span<const std::span<const std::byte>>;
  virtual void feed(Chunks chunks, const Sink& sink) = 0;
  // Passes the remaining output elements to the sink. Called after the last chunk.
  virtual void finish(const Sink&) {}
  // If has_table(), table() returns the result as a tab-separated table, such as partition's offset and count per
  // bucket. Call it after finish().
  virtual bool has_table() const { return false; }
  virtual std::string table() const { return {}; }
  // Returns one line about a result that may surprise the user, such as wrapped integers; usually "". Call it after
  // finish().
  virtual std::string warning() const { return {}; }

 protected:
  const Case case_;
};

// Usual values of a Primitive's members. types: the arithmetic ones, or all; variants: all combinations of flags and
// choices; tiles: sizes from a warp's to a large block's.
std::vector<Type> arithmetic_types();
std::vector<Type> all_types();  // f16 and bf16 too
std::vector<Settings> every_choice(const Primitive& primitive, Type);
inline constexpr std::size_t usual_tiles[] = {16, 64, 128, 512, 2048, 4096, 8192, 3 * 4096 + 5, 16384};

// The size and the parameters of `explain` by default: each is used unless the user gives another value.
struct Example {
  std::size_t n = std::size_t{1} << 16;  // several tiles of every rung; traced in a few seconds
  std::span<const std::pair<std::string_view, std::string_view>> parameters{};
};
// Four elements per thread of the widest grid in use, 2^18 threads, for rungs with grid-stride loops.
inline constexpr Example whole_grid{.n = std::size_t{1} << 20};

struct Primitive {
  const Contract& contract;
  std::vector<Type> (*types)() = &arithmetic_types;
  std::vector<std::string> (*inputs)(Type) = &input_names;  // inputs of a check
  // Returns the fixed size of an input, such as a scene's number of circles; 0 if the input may have any size. Unless
  // the user names inputs, a benchmark runs those with a fixed size. Null: every input may have any size.
  std::size_t (*own_size)(std::string_view input) = nullptr;
  // Returns the value of a scalar that an input determines, such as a scene's shading; empty if the contract's default
  // applies. Null: the default always applies.
  Scalar (*scalar_of_input)(std::string_view scalar, std::string_view input) = nullptr;
  // Parameters that shape a case's arrays, in addition to the contract's scalars: "share", "run_length".
  std::span<const Parameter> shapes{};
  // The shape parameters that a streamer reads; the others apply only to generated inputs, not to a user's file.
  std::span<const std::string_view> streamed{};
  // The fields of Tuning that this primitive reads but others do not: "chunk".
  std::span<const std::string_view> tuning{};
  // Returns the parameter sets of a check, without Tuning: the laboratory sweeps that itself, because it changes how a
  // rung runs, not its result.
  std::vector<Settings> (*variants)(const Primitive&, Type) = &every_choice;
  // Returns the length of a case's longest array that does not grow with n, such as partition's offsets. A check skips
  // parameter sets for which that exceeds its largest n. Null: no such array.
  std::size_t (*fixed_length)(const Settings&) = nullptr;
  // Tile sizes of the rungs. Different code handles the last element of a tile and the first of the next, so a check
  // adds each of these sizes, and the sizes one below and one above, to its fixed ones (0, 1, 2, 31, 32, 33, ...).
  std::span<const std::size_t> tiles = usual_tiles;
  // Upper bound on a check's sizes, for a primitive whose work grows faster than its input.
  std::size_t largest_checked = std::numeric_limits<std::size_t>::max();
  Example example{};                     // for explain
  std::span<const lab::Probe> probes{};  // one per threshold of the contract, in the order of tuning
  // Returns a table that compares the records with published times; empty if none were published for these cases. Null:
  // no published times.
  std::string (*published)(const std::vector<lab::Record>&, const lab::Terminal&) = nullptr;
  // Builds the case for make(): generates the inputs and computes the oracle's answer. Non-empty `data`, case.n
  // elements of case.type, replaces the generated main input.
  std::unique_ptr<Problem> (*problem)(const Primitive&, const Case&, std::span<const std::byte> data);
  // True if the output has the input's type, which sums may overflow. `upsweep run --out-type` then widens the input
  // first.
  bool sums_in_type = false;
  // Makes the streamer of one case and rung. Ignores Case::n. Throws Error(unsupported) if the rung does not take the
  // type and operation. Null: the primitive needs its whole input in memory.
  std::unique_ptr<Streamer> (*stream)(Platform&, const Rung&, const Case&) = nullptr;

  std::string_view name() const { return contract.name; }
  std::unique_ptr<Problem> make(const Case& c, std::span<const std::byte> data) const {
    return problem(*this, c, data);
  }
  // Returns the contract's operations, or one empty Operation if it has none.
  std::vector<Operation> operations() const;
  // Returns the contract's scalar or the shape parameter of that name; null if there is none.
  const Parameter* parameter(std::string_view name) const;
  // False if the parameter only shapes generated inputs.
  bool reads_streamed(const Parameter& parameter) const;
  // Returns the parameters of a case with this operation: the scalars that it reads, then the shape parameters.
  std::vector<const Parameter*> parameters_of(Operation operation) const;
  // Returns the type of a parameter's value in a case, if the parameter is an element or a result.
  Type type_of(const Parameter& parameter, const Case& c) const;
  // Returns one parameter set, written as on the command line: settings(Type::i32, {{"share", "0.5"}}). Throws like
  // parse_value(), and Error(invalid_argument) for an unknown name.
  Settings settings(Type type, std::initializer_list<std::pair<std::string_view, std::string>> texts) const;
};

template <class T>
T Problem::shape(std::string_view name) const {
  return case_.settings.get(name, primitive_.parameter(name)->initial.as<T>());
}

// Returns a call with the case's operation, scalars, tuning and main input type, but without arrays.
Call call_of(const Primitive& primitive, const Case& c);

// Returns all primitives of this program: one per folder with a ladder.inc.
std::span<const Primitive* const> primitives();
// Returns null if no primitive has this name.
const Primitive* find_primitive(std::string_view name);

}  // namespace upsweep
