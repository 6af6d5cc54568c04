// A primitive's promises and requirements, as data. The library uses them to validate and stage calls; the laboratory
// and the command line take names from them.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
#include "base/listed_operation.h"
#include "base/platform.h"
#include "base/threshold.h"
#include "upsweep/error.h"
#include "upsweep/parameter.h"

namespace upsweep {

// An array that a call reads.
struct InputRole {
  std::string_view name;  // "the flags"
  bool like_main = true;  // same type and count as the main input; otherwise Contract::validate checks them
};

// The rule that combines the results of two consecutive parts of an input.
enum class Join : std::uint8_t {
  in_sequence,  // concatenates them
  shifted,      // concatenates positions, adding the number of elements in the first part to the second's
  by_operator,  // element by element, with the call's operator
  by_addition,  // element by element
  merged,       // bucket by bucket, or by key
  drawn_over,   // the second part is drawn onto the result of the first
  not_at_all
};
// State carried into a part of an input from the preceding parts: none, the operator's running total, or the last
// element.
enum class Carry : std::uint8_t { nothing, total, last_element };

// An array that a call writes.
struct OutputRole {
  std::string_view name;
  std::uint8_t may_be = 0;  // bit j: may be the same memory as in[j]; every other overlap is an error
  // Returns the required element type, which is that of call.out if the caller may choose it. Null: the main input's
  // type.
  Type (*type)(const Call&) = nullptr;
  // Returns the number of elements that a call writes; 0 if the call omits this output. After the call, `counted` is
  // the value in out[count_output]. Before the call, `counted` is n, and the result is the size that the array must
  // have. Null: n.
  std::size_t (*count)(const Call&, std::uint64_t counted) = nullptr;
  const char* types = "";   // hint in the error for an array of another type
  std::string_view file{};  // name of its file, such as "offsets"; empty for the main output and if it has no file
  bool on_request = false;  // its file is written only on request
  Join (*join)(const Call&) = nullptr;  // null: in_sequence
};

struct Contract {
  std::string_view name;
  std::string_view promise;                       // one line: out[...] = ...
  std::span<const ListedOperation> operations{};  // empty if the primitive has only one
  std::span<const InputRole> inputs{};            // as Call::in; a call omits those that its operation does not read
  std::span<const OutputRole> outputs{};          // as Call::out, likewise
  // Returns the rungs compiled into this program; an emulator's rungs are in that emulator's library.
  Rungs (*rungs)(Backend) = nullptr;
  std::span<const Parameter> scalars{};  // as Call::scalars
  // True if a call's operation reads scalars[k]; null: all operations read all scalars.
  bool (*reads_scalar)(const Call&, std::size_t k) = nullptr;
  // Throws Error(invalid_argument) if inputs, scalars and the caller's choice of outputs are inconsistent. May be null.
  void (*validate)(const Call&) = nullptr;
  // Throws Error(invalid_argument) if the elements of an input violate the contract. `data` is null for inputs that the
  // host cannot read without waiting for the device. May be null.
  void (*validate_elements)(const Call&) = nullptr;
  // Returns the state carried from part to part. Null: Carry::nothing.
  Carry (*carry)(const Call&) = nullptr;
  static constexpr int no_count = -1;
  int count_output = no_count;  // index of the u64 output that has the element count of other outputs
  // Returns the rung for a call that names none; defined in the ladder's choose.h. It reads types, counts, scalars and
  // the kind of memory, but no elements. Null: every call must name a rung.
  Choice (*choose)(const Call&, const Machine&) = nullptr;
  std::span<Threshold* const> thresholds{};  // that choose() reads

  // Sets the scalars that a call omits to their defaults.
  void complete(Call& c) const;
  // Throws Error(invalid_argument) if the types or counts of a call's arrays are inconsistent.
  void require_arrays(const Call& c) const;
  Join join_of(const Call& c, std::size_t k) const { return outputs[k].join ? outputs[k].join(c) : Join::in_sequence; }
  Carry carry_of(const Call& c) const { return carry ? carry(c) : Carry::nothing; }
  Type type_of_output(const Call& c, std::size_t k) const { return outputs[k].type ? outputs[k].type(c) : c.type(); }
  std::size_t written(const Call& c, std::size_t k, std::uint64_t counted) const {
    return outputs[k].count ? outputs[k].count(c, counted) : c.n();
  }
  std::size_t room(const Call& c, std::size_t k) const { return written(c, k, c.n()); }  // elements
};

// Returns the type for indices below n, or for offsets or lengths up to n: the caller's type, if it is a 32- or 64-bit
// integer that can hold n; otherwise u32 if that can, else u64.
constexpr Type index_type(Type given, std::size_t n) {
  const bool takes_i32 = n <= 0x7fffffffu, takes_u32 = n <= 0xffffffffu;
  if (given == Type::u64 || given == Type::i64 || (given == Type::i32 && takes_i32)) return given;
  return takes_u32 ? Type::u32 : Type::u64;
}
inline constexpr const char* index_types = "use u32, u64, i32 or i64, wide enough for the number of elements";

// Throw Error(invalid_argument): "scan: the output has 3 elements, 5 are needed".
[[noreturn]] void refuse(std::string_view who, const std::string& what, const std::string& hint = {});
void require_room(std::string_view who, std::string_view array, std::size_t count, std::size_t needed);
void require_type(std::string_view who, std::string_view array, Type type, Type needed, const std::string& hint = {});
void require_array(std::string_view who, std::string_view name, const Array& array, Type type, std::size_t count,
                   const std::string& hint = {});

// Returns the rung for a call that names none, on this platform; null if the ladder has none there.
const Rung* chosen_rung(const Contract& contract, const Platform& platform, const Call& call);

// Return all contracts, one per ladder; the contract of that name, or null if there is none; and the rungs of all
// ladders on this platform. A program that calls any of these functions links every ladder; other programs link only
// the ladders that they name.
std::span<const Contract* const> contracts();
const Contract* find_contract(std::string_view name);
std::vector<const Rung*> all_rungs(const Platform& platform);

}  // namespace upsweep
