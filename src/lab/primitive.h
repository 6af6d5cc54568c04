// A primitive as the lab sees it: its cases, their oracle, and the least traffic. Each folder provides one Primitive
// (cases.cpp); nothing in the lab knows which primitive it is working on.
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
#include "lab/settings.h"

namespace upsweep {

class Platform;
struct Primitive;
namespace lab {
struct Record;
struct Terminal;
}  // namespace lab

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

// Returns the main input of a case, n elements: `data` if not empty (see Primitive::make), otherwise generated. Throws
// Error(invalid_argument) if data is not n elements.
std::unique_ptr<std::byte[]> main_input(const Case& c, std::span<const std::byte> data);

// One concrete case: host inputs, the outputs' shapes, and the check against the oracle.
class Problem {
 public:
  Problem(const Primitive& primitive, const Case& c, std::span<const std::byte> data)
      : primitive_(primitive), case_(c), values_(main_input(c, data)) {}
  virtual ~Problem() = default;
  // In the order of Call::in, in host memory. By default the main input alone.
  virtual std::vector<Array> inputs() const { return {input_array(case_.type, case_.n, values())}; }
  // In the order of Call::out, as the contract says. `data` is null for an output with memory of its own; otherwise it
  // is that of the input that the output overwrites.
  std::vector<Array> outputs() const;
  // Returns nothing if the outputs are right for this rung (exact, or within its bound); otherwise one line: the first
  // wrong element, its value, the value expected. `outputs` are host copies; before the call, every byte of the outputs
  // with memory of their own was `poison`.
  virtual std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const = 0;
  // Depends on the rung only for arrays in host memory, and for the ceilings, which move different things. By default
  // all bytes of the inputs and outputs, compared with ceiling(rung).
  virtual Traffic traffic(const Rung& rung) const;

 protected:
  // Sets what the contract leaves to the caller of an output: its type or count, or the input that it overwrites.
  virtual void choose_outputs(Call&) const {}
  // Returns the case's call with its arrays in host memory: the inputs, and these outputs.
  Call host_call(std::span<const void* const> outputs = {}) const;
  // Throws Error(invalid_argument) if the contract refuses that call.
  void require_valid() const;
  // The value of a parameter that shapes the arrays, or its default.
  template <class T>
  T shape(std::string_view name) const;
  const Primitive& primitive_;
  virtual std::string_view ceiling(const Rung&) const { return "copy"; }
  // The main input.
  const void* values() const { return values_.get(); }
  void* values() { return values_.get(); }
  const Case case_;

 private:
  std::unique_ptr<std::byte[]> values_;
};

// The shape that says of which type the indices, offsets or lengths are that a case writes; and what it says, for
// OutputRole::type: without it, what the contract prefers.
inline constexpr std::string_view index_type_names[] = {"u32", "u64", "i32", "i64"};
inline constexpr Parameter index_type_shape{.name = "index_type",
                                            .kind = Parameter::Kind::choice,
                                            .meaning = "of the indices, offsets or lengths that are written",
                                            .choices = index_type_names,
                                            .initial_in_words = "u32, or u64 for 2^32 elements or more"};
Type index_type_of(const Case& c);

// For Primitive::problem.
template <class P>
std::unique_ptr<Problem> make_problem(const Primitive& primitive, const Case& c, std::span<const std::byte> data) {
  return std::make_unique<P>(primitive, c, data);
}

inline constexpr std::size_t largest_whole_input = std::size_t{16} << 20;  // bytes, of most

// Processes an input that need not fit in memory, chunk by chunk, and produces the contract's result for the whole.
// Most derive from RungStreamer (lab/stream.h).
class Streamer {
 public:
  explicit Streamer(const Case& c) : case_(c) {}
  virtual ~Streamer() = default;
  // Takes the final elements of an output: 0 is the main one, 1 and up are the other outputs.
  struct Sink {
    std::function<void(std::span<const std::byte> elements, std::size_t output)> put;
    void operator()(std::span<const std::byte> elements, std::size_t output = 0) const { put(elements, output); }
  };
  struct Beside {
    std::string_view name;
    std::optional<Type> type;  // of an input, nothing: what its file says
    bool optional = false;     // a run may leave it out
    std::size_t largest = largest_whole_input;  // of an input that is needed as a whole, bytes
    bool any_type = false;  // of an input that is needed as a whole: `type` is for raw numbers, others say their own
  };
  // The inputs besides the main one, with as many elements each: "y" of saxpy.
  virtual std::vector<Beside> other_inputs() const { return {}; }
  // The inputs that are needed as a whole, of any length up to Beside::largest: "edges" of histogram. They are
  // given by take_whole(), with the type of their elements, before the first chunk; it throws Error(invalid_argument)
  // if one does not fit.
  virtual std::vector<Beside> whole_inputs() const { return {}; }
  virtual void take_whole(std::size_t, std::vector<std::byte>, Type) {}
  // Says what a streamer may use that needs all of its input before its first output.
  struct Storage {
    std::size_t bytes = available_host_bytes() / 4 * 3;  // of memory
    std::string folder = spool_folder();                 // for a temporary file beyond that
    std::optional<std::uint64_t> elements{};             // of the main input, if known
  };
  virtual void use(const Storage&) {}
  // Takes the types of those of other_inputs() that this run has, before the outputs are asked for.
  virtual void take_types(std::span<const Type>) {}
  // The main output's type, and its element count for an input of `n` (nothing: not known beforehand). By default those
  // of the main input.
  virtual Type output_type() const { return case_.type; }
  virtual std::optional<std::uint64_t> output_count(std::optional<std::uint64_t> n) const { return n; }
  // Whether the main output has one element for each of the main input, in its place, and so the same shape.
  virtual bool elementwise() const { return false; }
  // Whether the outputs are the same in whatever order the elements of the main input come, but for rounding.
  virtual bool any_order() const { return false; }
  // The bytes of all outputs for an input of n elements, if they follow it: they are as much work again. 0: they come
  // while the input is read.
  virtual std::uint64_t bytes_after_input(std::uint64_t) const { return 0; }
  // The outputs besides the main one, of any length: "lengths" of run_length_encode.
  virtual std::vector<Beside> other_outputs() const { return {}; }
  // Takes the next elements of the main input, and as many of each other one, in host memory, aligned to 64 bytes;
  // passes the final elements of the outputs to the sink. Throws Error.
  using Chunks = std::span<const std::span<const std::byte>>;
  virtual void feed(Chunks chunks, const Sink& sink) = 0;
  // Follows the last chunk: passes the rest of the outputs.
  virtual void finish(const Sink&) {}
  // The result as a table, with tabs between its columns: of partition, every bucket's offset and count. After
  // finish().
  virtual bool has_table() const { return false; }
  virtual std::string table() const { return {}; }
  // One line about a result that its user may not expect: integers that have wrapped. After finish(); mostly empty.
  virtual std::string warning() const { return {}; }

 protected:
  const Case case_;
};

// The defaults of a Primitive: every element type; every combination of its flags and choices; tiles from a warp's to a
// large block's.
std::vector<Type> all_types();
std::vector<Settings> every_choice(const Primitive& primitive, Type);
inline constexpr std::size_t usual_tiles[] = {16, 64, 128, 512, 2048, 4096, 8192, 3 * 4096 + 5, 16384};

// An explanation traces this if its caller names neither sizes nor parameters.
struct Example {
  std::size_t n = std::size_t{1} << 16;  // several tiles of every rung, traced in a second or a few
  std::span<const std::pair<std::string_view, std::string_view>> parameters{};
};
// Four elements for each of the 2^18 threads of the widest grid in use, for rungs that stride over a grid.
inline constexpr Example whole_grid{.n = std::size_t{1} << 20};

struct Primitive {
  const Contract& contract;
  std::vector<Type> (*types)() = &all_types;
  std::vector<std::string> (*inputs)(Type) = &input_names;  // the inputs of a check
  // The size of an input that has one of its own, such as a scene's circles; 0 if it has none. A benchmark that names
  // neither inputs nor sizes runs those that have one. Null: inputs have any size.
  std::size_t (*own_size)(std::string_view input) = nullptr;
  // Returns the value of a scalar that comes with an input, such as a scene's shading; empty if the contract's default
  // stands. Null: it always does.
  Scalar (*scalar_of_input)(std::string_view scalar, std::string_view input) = nullptr;
  // Parameters that shape a case's arrays, besides the contract's scalars: "share", "run_length".
  std::span<const Parameter> shapes{};
  // The ones that a streamer reads; the others shape generated inputs, not a user's file.
  std::span<const std::string_view> streamed{};
  // The fields of Tuning that only some rungs of this primitive read: "chunk".
  std::span<const std::string_view> tuning{};
  // The parameter sets that a check runs. The lab itself sweeps Tuning, which changes how a rung runs, not its result.
  std::vector<Settings> (*variants)(const Primitive&, Type) = &every_choice;
  // Returns the elements of a case's largest array that does not grow with n, such as partition's offsets. A check
  // skips a parameter set that makes it longer than the largest n. Null: there is none.
  std::size_t (*fixed_length)(const Settings&) = nullptr;
  // Sizes of the rungs' tiles, near which the last element of a tile and the first of the next are handled by different
  // code. A check adds these sizes, one less and one more to its own (0, 1, 2, 31, 32, 33, ...).
  std::span<const std::size_t> tiles = usual_tiles;
  // The largest size of a check, for a primitive whose work grows faster than its input.
  std::size_t largest_checked = std::numeric_limits<std::size_t>::max();
  Example example{};  // of an explanation
  // Returns a table of the records beside times that others published; empty if they published none of these cases.
  // Null: of none.
  std::string (*published)(const std::vector<lab::Record>&, const lab::Terminal&) = nullptr;
  // Builds the case, for make(): generates the inputs and computes the oracle's answer. Non-empty `data`, case.n
  // elements of case.type, replaces the generated main input.
  std::unique_ptr<Problem> (*problem)(const Primitive&, const Case&, std::span<const std::byte> data);
  // The output has the input's type, which sums may exceed: `upsweep run --out-type` converts the input to a wider one.
  bool sums_in_type = false;
  // Streams one case through a rung; null if the primitive needs its whole input at once. Ignores Case::n. Throws
  // Error(unsupported) if the rung does not take the type and operation.
  std::unique_ptr<Streamer> (*stream)(Platform&, const Rung&, const Case&) = nullptr;

  std::string_view name() const { return contract.name; }
  std::unique_ptr<Problem> make(const Case& c, std::span<const std::byte> data) const {
    return problem(*this, c, data);
  }
  // The contract's operations, or one empty Operation.
  std::vector<Operation> operations() const;
  // Returns a scalar of the contract or a shape parameter; null if none has that name.
  const Parameter* parameter(std::string_view name) const;
  // True unless the parameter only shapes inputs that the laboratory makes.
  bool reads_streamed(const Parameter& parameter) const;
  // Returns the parameters of a case with this operation: the scalars that it reads, then the shape parameters.
  std::vector<const Parameter*> parameters_of(Operation operation) const;
  // Returns one parameter set, written as on the command line: settings(Type::i32, {{"share", "0.5"}}). Throws like
  // parse_value, and for an unknown name.
  Settings settings(Type type, std::initializer_list<std::pair<std::string_view, std::string>> texts) const;
};

template <class T>
T Problem::shape(std::string_view name) const {
  return case_.settings.get(name, primitive_.parameter(name)->initial.as<T>());
}

// Returns a call with the case's operation, scalars and tuning, without arrays but for the main input's type.
Call call_of(const Primitive& primitive, const Case& c);

// Every primitive of this program, from the folders that have a ladder.inc.
std::span<const Primitive* const> primitives();
const Primitive* find_primitive(std::string_view name);

}  // namespace upsweep
