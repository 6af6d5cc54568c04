// A primitive as the lab sees it: its cases, their oracle, and the least traffic. Each folder provides one Primitive
// (cases.cpp); nothing in the lab knows which primitive it is working on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/contract.h"
#include "base/rung.h"
#include "lab/settings.h"

namespace upsweep {

class Platform;

// primitive x type x operation x n x input x parameters.
struct Case {
  Type type = Type::f32;  // of the main input
  Operation operation{};
  std::size_t n = 0;
  std::string input = "uniform";  // a named input (lab/inputs.h)
  std::uint64_t seed = 1;
  Settings settings{};  // scalars of the call, and parameters that shape the input
  Tuning tuning{};
};

// The fewest bytes that the contract can move, and the ceiling to compare with.
struct Traffic {
  std::size_t bytes = 0;
  std::string_view ceiling;  // "read", "write", "copy", "triad", "link", "launch"
};

// Outputs are filled with this before a call: neither zero nor a small number in any type, so that elements that were
// not written show.
inline constexpr std::byte poison{0xCD};

// One concrete case: host inputs, the outputs' shapes, and the check against the oracle.
class Problem {
 public:
  virtual ~Problem() = default;
  virtual std::vector<Array> inputs() const = 0;  // in the order of Call::in, in host memory
  // In the order of Call::out. `data` is null for an output with memory of its own; otherwise it is that of the input
  // that the output overwrites.
  virtual std::vector<Array> outputs() const = 0;
  // Returns nothing if the outputs are right for this rung (exact, or within its bound); otherwise one line: the first
  // wrong element, its value, the value expected. `outputs` are host copies; before the call, every byte of the outputs
  // with memory of their own was `poison`.
  virtual std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const = 0;
  // Depends on the rung only for arrays in host memory, and for the ceilings, which move different things.
  virtual Traffic traffic(const Rung& rung) const = 0;
};

// Runs the rung's function for a Streamer. Throws Error with the rung's message if it fails.
void run_chunk(RunFn run, const Call& call, std::string_view primitive);
// Returns the function of a rung that streams: it must take the type and operation, and any number of elements. Throws
// Error(unsupported).
RunFn streaming_run(const Rung& rung, const Case& c);

// Processes an input that need not fit in memory, chunk by chunk, and produces the contract's result for the whole.
class Streamer {
 public:
  virtual ~Streamer() = default;
  // Takes the final elements of an output: 0 is the main one, 1 and up are the other outputs.
  struct Sink {
    std::function<void(std::span<const std::byte> elements, std::size_t output)> put;
    void operator()(std::span<const std::byte> elements, std::size_t output = 0) const { put(elements, output); }
  };
  struct Beside {
    std::string_view name;
    Type type;
  };
  // The inputs besides the main one, with as many elements each: "y" of saxpy.
  virtual std::vector<Beside> other_inputs() const { return {}; }
  // The main output's type, and its element count for an input of `n` (nothing: not known beforehand).
  virtual Type output_type() const = 0;
  virtual std::optional<std::uint64_t> output_count(std::optional<std::uint64_t> n) const = 0;
  // The outputs besides the main one, of any length: "lengths" of run_length_encode.
  virtual std::vector<Beside> other_outputs() const { return {}; }
  // Takes the next elements of the main input, and as many of each other one, in host memory, aligned to 64 bytes;
  // passes the final elements of the outputs to the sink. Throws Error.
  using Chunks = std::span<const std::span<const std::byte>>;
  virtual void feed(Chunks chunks, const Sink& sink) = 0;
  // Follows the last chunk: passes the rest of the outputs.
  virtual void finish(const Sink& sink) = 0;
};

struct Primitive {
  const Contract& contract;
  std::vector<Type> (*types)();
  std::vector<std::string> (*inputs)(Type);  // the inputs of a check
  // Returns the value of a scalar that a case does not give; null: false, or the first choice.
  Scalar (*default_scalar)(std::string_view name, Type) = nullptr;
  // Parameters that shape a case's arrays, besides the contract's scalars: "share", "run_length".
  std::span<const Parameter> shapes{};
  // The fields of Tuning that only some rungs of this primitive read: "chunk".
  std::span<const std::string_view> tuning{};
  // The parameter sets that a check runs. The lab itself sweeps Tuning, which changes how a rung runs, not its result.
  std::vector<Settings> (*variants)(const Primitive&, Type) = [](const Primitive&, Type) {
    return std::vector<Settings>(1);
  };
  // Sizes that a rung must pass besides the lab's own (0, 1, 2, 31, 32, 33, ...): tile boundaries and the like.
  std::vector<std::size_t> (*sizes)(const Rung&);
  // Builds the case: generates the inputs and computes the oracle's answer. Non-empty `data`, case.n elements of
  // case.type, replaces the generated main input.
  std::unique_ptr<Problem> (*make)(const Case&, std::span<const std::byte> data);
  // Streams one case through a rung; null if the primitive needs its whole input at once. Ignores Case::n. Throws
  // Error(unsupported) if the rung does not take the type and operation.
  std::unique_ptr<Streamer> (*stream)(Platform&, const Rung&, const Case&) = nullptr;

  std::string_view name() const { return contract.name; }
  // The contract's operations, or one empty Operation.
  std::span<const Operation> operations() const;
  // Returns a scalar of the contract or a shape parameter; null if none has that name.
  const Parameter* parameter(std::string_view name) const;
  // Returns one parameter set, written as on the command line: settings(Type::i32, {{"share", "0.5"}}). Throws like
  // parse_value, and for an unknown name.
  Settings settings(Type type, std::initializer_list<std::pair<std::string_view, std::string>> texts) const;
};

// Returns a call with the case's operation, scalars and tuning, without arrays.
Call call_of(const Primitive& primitive, const Case& c);

// For `types`: every element type.
std::vector<Type> all_types();
// For `sizes`: each tile's size, one less and one more; on a CPU or a GPU also a prime and 2^20 + 1.
std::vector<std::size_t> sizes_around(std::initializer_list<std::size_t> tiles, const Rung& rung);

// Returns the main input of a case, n elements: `data` if not empty (see Primitive::make), otherwise generated. Throws
// Error(invalid_argument) if data is not n elements.
std::unique_ptr<std::byte[]> main_input(const Case& c, std::span<const std::byte> data);

// Every primitive of this program, from the folders that have a ladder.inc.
std::span<const Primitive* const> primitives();
const Primitive* find_primitive(std::string_view name);

}  // namespace upsweep
