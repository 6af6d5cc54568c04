// The promises and requirements of a primitive, as data. The library validates and stages calls by it; the laboratory
// and the command line take names from it.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/choice.h"
#include "base/platform.h"
#include "base/threshold.h"
#include "upsweep/error.h"

namespace upsweep {

// The name and kind of a scalar argument, or of a number that shapes a benchmark's input. An `element` has the main
// input's type; a `choice` is an enumerator, given by name.
struct Parameter {
  enum class Kind : std::uint8_t { element, integer, real, flag, choice };
  std::string_view name;
  Kind kind = Kind::integer;
  std::string_view meaning{};  // one line, with the default
  std::span<const std::string_view> choices{};
  double least = 0, most = std::numeric_limits<double>::infinity();  // bounds of an integer or a real
};

// The type and count that an array must have.
enum class Fit : std::uint8_t {
  main,   // those of the main input; an output may have more elements
  one,    // one element of the main input's type, or more
  custom  // as Contract::validate requires
};

// An array that a call reads.
struct InputRole {
  std::string_view name;  // "the flags"
  Fit fit = Fit::main;
};

// An array that a call writes.
struct OutputRole {
  std::string_view name;
  std::uint8_t may_be = 0;  // bit j: may be the same memory as in[j]; every other overlap is an error
  Fit fit = Fit::main;
};

struct Contract {
  std::string_view name;
  std::string_view promise;                 // one line: out[...] = ...
  std::span<const Operation> operations{};  // empty if the primitive leaves no choice
  std::span<const InputRole> inputs{};      // as Call::in; a call omits those that its operation does not read
  std::span<const OutputRole> outputs{};    // as Call::out, likewise
  std::span<const Parameter> scalars{};     // as Call::scalars
  // True if a call's operation reads scalars[k]; null: all operations read all scalars.
  bool (*reads_scalar)(const Call&, std::size_t k) = nullptr;
  // Throws Error(invalid_argument) if an array does not fit in a way that its Fit cannot express. May be null.
  void (*validate)(const Call&) = nullptr;
  // Throws Error(invalid_argument) if the elements of an input break a promise. Inputs that the host cannot read
  // without waiting for the device have data null. May be null.
  void (*validate_elements)(const Call&) = nullptr;
  // Returns the elements of out[k] that a call writes. `counted` is the value that the call left in out[count_output],
  // or n before it has run. Null: as many as its Fit says.
  std::size_t (*writes)(const Call&, std::size_t k, std::uint64_t counted) = nullptr;
  static constexpr int no_count = -1;
  int count_output = no_count;                    // the output, one u64, that holds the element count of others
  // The rung for a call that names none: that of the ladder's choose.h. It reads types, counts, scalars and where the
  // arrays are, not their elements. Null: every call names its rung.
  Choice (*choose)(const Call&, const Machine&) = nullptr;
  std::span<Threshold* const> thresholds{};  // that it compares with

  // Throws Error(invalid_argument) if the types or counts of a call's arrays do not fit together.
  void require_arrays(const Call& c) const;
  std::size_t written(const Call& c, std::size_t k, std::uint64_t counted) const {
    return writes ? writes(c, k, counted) : outputs[k].fit == Fit::one ? 1 : c.n();
  }
};

// Throw Error(invalid_argument): "scan: the output has 3 elements, 5 are needed".
[[noreturn]] void refuse(std::string_view who, const std::string& what, const std::string& hint = {});
void require_room(std::string_view who, std::string_view array, std::size_t count, std::size_t needed);
void require_type(std::string_view who, std::string_view array, Type type, Type needed, const std::string& hint = {});
void require_array(std::string_view who, std::string_view name, const Array& array, Type type, std::size_t count,
                   const std::string& hint = {});

// The rung of a call that names none, on this platform; null if the ladder has none there.
const Rung* chosen_rung(const Contract& contract, const Platform& platform, const Call& call);

// All contracts of this program, one per ladder; and the contract of that name, or null.
std::span<const Contract* const> contracts();
const Contract* find_contract(std::string_view name);

}  // namespace upsweep
