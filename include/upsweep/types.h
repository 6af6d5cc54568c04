// The element types, operators and backends of the compiled library, as values and by name.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "upsweep/half.h"
#include "upsweep/operators.h"

namespace upsweep {

enum class Type : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, f16, bf16 };
enum class Backend : std::uint8_t { cpu, cuda, simt };

inline constexpr std::array<std::string_view, 12> type_names{"i8",  "u8",  "i16", "u16", "i32", "u32",
                                                             "i64", "u64", "f32", "f64", "f16", "bf16"};
inline constexpr std::span arithmetic_type_names = std::span(type_names).first<10>();
inline constexpr std::array<std::string_view, 4> op_names{"sum", "product", "min", "max"};
inline constexpr std::array<std::string_view, 3> backend_names{"cpu", "cuda", "simt"};

constexpr std::string_view to_string(Type t) { return type_names[static_cast<std::size_t>(t)]; }
constexpr std::string_view to_string(Op op) { return op_names[static_cast<std::size_t>(op)]; }
constexpr std::string_view to_string(Backend b) { return backend_names[static_cast<std::size_t>(b)]; }

// Returns the enumerator called `name`, or nullopt: parse<Type>("f32"), parse<Op>("max").
template <class Enum>
constexpr std::optional<Enum> parse(std::string_view name) {
  const auto find = [&](const auto& names) -> std::optional<Enum> {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) return static_cast<Enum>(i);
    return std::nullopt;
  };
  if constexpr (std::is_same_v<Enum, Type>)
    return find(type_names);
  else if constexpr (std::is_same_v<Enum, Op>)
    return find(op_names);
  else
    return find(backend_names);
}

constexpr std::size_t size_of(Type t) {  // bytes
  constexpr std::array<std::size_t, 12> bytes{1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2, 2};
  return bytes[static_cast<std::size_t>(t)];
}
constexpr bool is_half_type(Type t) { return t == Type::f16 || t == Type::bf16; }
constexpr bool is_float(Type t) { return t == Type::f32 || t == Type::f64 || is_half_type(t); }

// True if sums of one element type may be computed and written in another, wider one, so that they do not wrap or round
// at the elements' width: offsets from counts, totals of bytes. The list is short because each pair adds a kernel to
// every rung that supports it, and a scan already has 30 for its types and operators.
constexpr bool widens_sums(Type element, Type sum) {
  switch (element) {
    case Type::u8:
      return sum == Type::u32 || sum == Type::u64;
    case Type::u32:
      return sum == Type::u64;
    case Type::i32:
      return sum == Type::i64;
    case Type::f32:
      return sum == Type::f64;
    case Type::f16:
    case Type::bf16:
      return sum == Type::f32;
    default:
      return false;
  }
}
inline constexpr const char* wider_sums =
    "sums may be wider: u8 as u32 or u64, u32 as u64, i32 as i64, f32 as f64, f16 and bf16 as f32";

template <class T>
struct TypeTag {
  using type = T;
};

// Returns the Type of a C++ type. Arithmetic types map by size and signedness, so that `long` and `long long` are both
// i64.
template <class T>
constexpr Type type_of() {
  static_assert((std::is_arithmetic_v<T> && sizeof(T) <= 8) || is_half<T>, "no upsweep::Type for this C++ type");
  if constexpr (is_half<T>)
    return std::is_same_v<T, f16> ? Type::f16 : Type::bf16;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? Type::f32 : Type::f64;
  else {
    constexpr int log2_bytes = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<Type>(2 * log2_bytes + (std::is_signed_v<T> ? 0 : 1));
  }
}

// The element types that the library is compiled for: integers of 8 to 64 bits, float, double, f16 and bf16.
template <class T>
concept Element =
    (std::integral<T> || std::same_as<T, float> || std::same_as<T, double> || is_half<T>) && !std::same_as<T, bool> &&
    !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

// visit(op, f): calls f(Sum{}), f(Product{}), f(Min{}) or f(Max{}), as `op` says, and returns its result.
template <class F>
constexpr decltype(auto) visit(Op op, F&& f) {
  switch (op) {
    case Op::product:
      return f(Product{});
    case Op::min:
      return f(Min{});
    case Op::max:
      return f(Max{});
    default:
      break;
  }
  return f(Sum{});
}

// visit(type, f): calls f(TypeTag<T>{}), where T is the C++ type that `type` names, and returns its result. `type` must
// not be f16 or bf16; visit_any() takes these too.
template <class F>
constexpr decltype(auto) visit(Type type, F&& f) {
  switch (type) {
    case Type::i8:
      return f(TypeTag<std::int8_t>{});
    case Type::u8:
      return f(TypeTag<std::uint8_t>{});
    case Type::i16:
      return f(TypeTag<std::int16_t>{});
    case Type::u16:
      return f(TypeTag<std::uint16_t>{});
    case Type::i32:
      return f(TypeTag<std::int32_t>{});
    case Type::u32:
      return f(TypeTag<std::uint32_t>{});
    case Type::i64:
      return f(TypeTag<std::int64_t>{});
    case Type::u64:
      return f(TypeTag<std::uint64_t>{});
    case Type::f32:
      return f(TypeTag<float>{});
    default:
      break;
  }
  return f(TypeTag<double>{});
}
template <class F>
constexpr decltype(auto) visit_half(Type type, F&& f) {
  if (type == Type::f16) return f(TypeTag<f16>{});
  return f(TypeTag<bf16>{});
}
template <class F>
constexpr decltype(auto) visit_any(Type type, F&& f) {
  return is_half_type(type) ? visit_half(type, f) : visit(type, f);
}

}  // namespace upsweep
