// A primitive as the lab sees it: its cases, the truth about each, and the traffic it cannot do without. Each folder
// provides one Primitive (cases.cpp), and nothing in the lab knows which primitive it is working on.
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

#include "base/rung.h"

namespace upsweep {

class Platform;

// primitive x type x n x input x parameters.
struct Case {
  Type type = Type::f32;
  Op op = Op::sum;
  std::size_t n = 0;
  std::string input = "uniform";  // a named distribution (base/inputs.h)
  std::uint64_t seed = 1;
  Params params{};
};

// The fewest bytes the contract can move, and the ceiling they are held against.
struct Traffic {
  std::size_t bytes = 0;
  std::string_view ceiling;  // "read", "write", "copy", "triad", "link", "launch"
};

// What outputs are filled with before a call: neither zero nor a small number in any type, so that what was not written
// shows.
inline constexpr std::byte poison{0xCD};

struct OutputSpec {
  static constexpr int own_memory = -1;
  Type type;
  std::size_t count;             // elements
  int in_place_of = own_memory;  // or the input that it overwrites: Call::out[...] is Call::in[in_place_of]
};

// One case made real: host inputs, the outputs' shapes, and the check against the oracle.
class Problem {
 public:
  virtual ~Problem() = default;
  struct Array {
    Type type;
    std::size_t count;
    const void* data;
  };
  virtual std::vector<Array> inputs() const = 0;        // in the order of Call::in
  virtual std::vector<OutputSpec> outputs() const = 0;  // in the order of Call::out
  virtual Params params() const { return {}; }          // of the call, that only the data know: how many of something
  // Nothing if the outputs are right for this rung (exact, or within its bound); otherwise what differs, in one line:
  // the first wrong element, what it is, what it should be. `outputs` are host copies; before the call, every byte of
  // those with memory of their own was `poison`.
  virtual std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const = 0;
  // The rung matters to those alone whose arrays lie elsewhere, and to the ceilings, which move different things.
  virtual Traffic traffic(const Rung& rung) const = 0;
};

// Works through an input that need not fit in memory, chunk after chunk, and gives what the contract says of the whole.
class Streamer {
 public:
  virtual ~Streamer() = default;
  // Takes what is final of an output: of the main one, or of number `output` of those beside it, from 1 on.
  struct Sink {
    std::function<void(std::span<const std::byte> elements, std::size_t output)> put;
    void operator()(std::span<const std::byte> elements, std::size_t output = 0) const { put(elements, output); }
  };
  struct Beside {
    std::string_view name;
    Type type;
  };
  // The inputs beside the main one, each of as many elements: "y" of saxpy.
  virtual std::vector<Beside> other_inputs() const { return {}; }
  // Of the main output: its type, and its elements for `n` of input (nothing: not known beforehand).
  virtual Type output_type() const = 0;
  virtual std::optional<std::uint64_t> output_count(std::optional<std::uint64_t> n) const = 0;
  // The outputs beside it, of any length: "lengths" of run_length_encode.
  virtual std::vector<Beside> other_outputs() const { return {}; }
  // The next elements of the main input, and as many of each other one, in host memory, aligned to 64 bytes; whatever
  // of the outputs is final goes to the sink. Throws Error.
  using Chunks = std::span<const std::span<const std::byte>>;
  virtual void feed(Chunks chunks, const Sink& sink) = 0;
  // After the last chunk: the rest of the outputs.
  virtual void finish(const Sink& sink) = 0;
};

struct Parameter {
  std::string_view name;
  bool may_be_negative = false;
};

struct Primitive {
  std::string_view name;
  std::string_view contract;  // one line: out[...] = ...
  std::vector<Type> (*types)();
  std::vector<Op> (*ops)();                  // one entry, Op::sum, where operators mean nothing
  std::vector<std::string> (*inputs)(Type);  // that a check runs
  // Parameters that are part of the contract ("inclusive"): the sets of them that a check runs. The rungs' own, which
  // change how and not what ("block", "threads"), are the lab's to sweep.
  std::vector<Params> (*variants)() = [] { return std::vector<Params>(1); };
  // All that a caller may give, beside "block", "grid" and "threads": of the contract, the inputs ("share"), the rungs.
  std::vector<Parameter> (*params)() = [] { return std::vector<Parameter>(); };
  // Sizes a rung must pass, beyond the lab's own list (0, 1, 2, 31, 32, 33, ...): tile boundaries and the like.
  std::vector<std::size_t> (*sizes)(const Rung&);
  // Builds the case; generates the inputs and computes the oracle's answer. `data` replaces the generated main input
  // when not empty: case.n elements of case.type.
  std::unique_ptr<Problem> (*make)(const Case&, std::span<const std::byte> data);
  std::string_view default_rung_cpu, default_rung_gpu;  // what the library runs when no rung is named
  // Streams one case through a rung; null where the primitive needs its input whole. Case::n is ignored. Throws
  // Error(unsupported) when the rung does not take the type and operator.
  std::unique_ptr<Streamer> (*stream)(Platform&, const Rung&, const Case&) = nullptr;
};

// For `types`: every one that there is.
std::vector<Type> all_types();
// For `sizes`: one less, one more and just as many elements as these tiles have, and where it is no emulator that
// checks, a prime and a million and one.
std::vector<std::size_t> sizes_around(std::initializer_list<std::size_t> tiles, const Rung& rung);

// The main input of a case, n elements: generated, or `data` where that is not empty (see Primitive::make). Throws
// Error(invalid_argument) when data is not n elements.
std::unique_ptr<std::byte[]> main_input(const Case& c, std::span<const std::byte> data);

// Every primitive of this program, from the folders that have a ladder.inc.
std::span<const Primitive* const> primitives();
const Primitive* find_primitive(std::string_view name);

}  // namespace upsweep
