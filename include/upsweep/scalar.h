// The scalar arguments of a call, whose types are run-time values: a factor, a limit, a flag, a choice.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "upsweep/types.h"

namespace upsweep {

// One number of any element type. Flags and enumerators are stored as u8. An empty Scalar selects the default.
class Scalar {
 public:
  constexpr Scalar() = default;
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> || is_half<T>
  constexpr Scalar(T value) : given_(true) {  // NOLINT: implicit, so that a call can pass plain values
    if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>) {
      bytes_[0] = static_cast<unsigned char>(value);
    } else {
      type_ = type_of<T>();
      const auto bytes = std::bit_cast<Bytes<T>>(value);
      for (std::size_t k = 0; k < sizeof value; ++k) bytes_[k] = bytes[k];
    }
  }

  constexpr Type type() const { return type_; }
  constexpr explicit operator bool() const { return given_; }
  // Returns the value. T must be the type that the Scalar was made from.
  template <class T>
  constexpr T as() const {
    if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>) {
      return static_cast<T>(bytes_[0]);
    } else {
      Bytes<T> bytes{};
      for (std::size_t k = 0; k < sizeof(T); ++k) bytes[k] = bytes_[k];
      return std::bit_cast<T>(bytes);
    }
  }
  // Returns the address of the value, which has size_of(type()) bytes.
  const void* data() const { return bytes_; }

 private:
  template <class T>
  using Bytes = std::array<unsigned char, sizeof(T)>;
  Type type_ = Type::u8;
  bool given_ = false;
  alignas(8) unsigned char bytes_[8] = {};
};

inline constexpr std::size_t scalars_of_a_call = 13;
using Scalars = std::array<Scalar, scalars_of_a_call>;  // in the order of the primitive's contract

// The operation of a call, for primitives that have several: the operator of a reduction, the kind of a selection.
// Constructed from an enumerator and named by its to_string(); empty if the primitive has only one operation.
class Operation {
 public:
  constexpr Operation() = default;
  template <class Enum>
  requires std::is_enum_v<Enum>
  constexpr Operation(Enum e) : name_(to_string(e)), value_(static_cast<std::uint8_t>(e)) {}  // NOLINT: like Scalar

  constexpr std::string_view name() const { return name_; }
  constexpr explicit operator bool() const { return !name_.empty(); }
  template <class Enum>
  constexpr Enum as() const {
    return static_cast<Enum>(value_);
  }
  friend constexpr bool operator==(const Operation& a, const Operation& b) { return a.name_ == b.name_; }

 private:
  std::string_view name_;
  std::uint8_t value_ = 0;
};

}  // namespace upsweep
