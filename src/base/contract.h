// The promises and requirements of a primitive, as data. The library validates and stages calls by it; the laboratory
// and the command line take names from it.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/choice.h"
#include "base/operation.h"
#include "base/platform.h"
#include "base/threshold.h"
#include "upsweep/error.h"
#include "upsweep/parameter.h"

namespace upsweep {

// An array that a call reads.
struct InputRole {
  std::string_view name;  // "the flags"
  bool like_main = true;  // its type and count are those of the main input; otherwise as Contract::validate requires
};

// The way in which the results of two consecutive parts of an input make that of the whole.
enum class Join : std::uint8_t {
  in_sequence,  // the second follows the first
  shifted,      // likewise, the second plus the number of elements in the first part: positions
  by_operator,  // element by element, with the call's operator
  by_addition,  // element by element
  merged,       // bucket by bucket, or in the order of the keys
  drawn_over,   // the second part is drawn onto the result of the first
  not_at_all
};
// State that a part takes over from those before it: none; the operator's total, which it starts from; or the last
// element.
enum class Carry : std::uint8_t { nothing, total, last_element };

// An array that a call writes.
struct OutputRole {
  std::string_view name;
  std::uint8_t may_be = 0;  // bit j: may be the same memory as in[j]; every other overlap is an error
  // Returns the type that it must have; where the caller may choose one, call.out says which. Null: the main input's.
  Type (*type)(const Call&) = nullptr;
  // Returns the elements that a call writes; 0 if it leaves this output out. `counted` is the value that the call left
  // in out[count_output], or n before it has run: then the array must have room for so many. Null: n.
  std::size_t (*count)(const Call&, std::uint64_t counted) = nullptr;
  const char* types = "";  // a hint for arrays of another type
  std::string_view file{};  // name of its file: "offsets"; empty: it is the main output, or no file has it
  bool on_request = false;  // of files: a run may do without
  Join (*join)(const Call&) = nullptr;  // null: in sequence
};

struct Contract {
  std::string_view name;
  std::string_view promise;                 // one line: out[...] = ...
  std::span<const ListedOperation> operations{};  // empty if the primitive leaves no choice
  std::span<const InputRole> inputs{};      // as Call::in; a call omits those that its operation does not read
  std::span<const OutputRole> outputs{};    // as Call::out, likewise
  std::span<const Parameter> scalars{};     // as Call::scalars
  // True if a call's operation reads scalars[k]; null: all operations read all scalars.
  bool (*reads_scalar)(const Call&, std::size_t k) = nullptr;
  // Throws Error(invalid_argument) if inputs, scalars or the caller's choice of outputs do not fit together. May be
  // null.
  void (*validate)(const Call&) = nullptr;
  // Throws Error(invalid_argument) if the elements of an input break a promise. Inputs that the host cannot read
  // without waiting for the device have data null. May be null.
  void (*validate_elements)(const Call&) = nullptr;
  // Returns what a part takes over from those before it. Null: nothing.
  Carry (*carry)(const Call&) = nullptr;
  static constexpr int no_count = -1;
  int count_output = no_count;                    // the output, one u64, that holds the element count of others
  // The rung for a call that names none: that of the ladder's choose.h. It reads types, counts, scalars and where the
  // arrays are, not their elements. Null: every call names its rung.
  Choice (*choose)(const Call&, const Machine&) = nullptr;
  std::span<Threshold* const> thresholds{};  // that it compares with

  // Gives the scalars that a call leaves out their defaults.
  void complete(Call& c) const;
  // Throws Error(invalid_argument) if the types or counts of a call's arrays do not fit together.
  void require_arrays(const Call& c) const;
  Join join_of(const Call& c, std::size_t k) const {
    return outputs[k].join ? outputs[k].join(c) : Join::in_sequence;
  }
  Carry carry_of(const Call& c) const { return carry ? carry(c) : Carry::nothing; }
  Type type_of_output(const Call& c, std::size_t k) const { return outputs[k].type ? outputs[k].type(c) : c.type(); }
  std::size_t written(const Call& c, std::size_t k, std::uint64_t counted) const {
    return outputs[k].count ? outputs[k].count(c, counted) : c.n();
  }
  std::size_t room(const Call& c, std::size_t k) const { return written(c, k, c.n()); }  // elements
};

// The type of an array of indices below n, or of offsets or lengths up to n: the caller's, if it is an integer of 32 or
// 64 bits that holds n; otherwise the narrower one that does.
constexpr Type index_type(Type given, std::size_t n) {
  const bool takes_i32 = n <= 0x7fffffffu, takes_u32 = n <= 0xffffffffu;
  if (given == Type::u64 || given == Type::i64 || (given == Type::i32 && takes_i32)) return given;
  return takes_u32 ? Type::u32 : Type::u64;
}
inline constexpr const char* index_types = "u32, u64, i32 or i64 will do that holds the number of elements";

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
