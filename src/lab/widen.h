// Conversions that lose nothing: from a narrow element type to one that holds all its values.
#pragma once
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "upsweep/types.h"

namespace upsweep {

// True if every From is a To, and the types differ.
template <class From, class To>
inline constexpr bool is_wider =
    !std::is_same_v<From, To> && std::numeric_limits<To>::digits >= std::numeric_limits<From>::digits &&
    (std::is_signed_v<To> || std::is_unsigned_v<From>)&&(std::is_floating_point_v<To> || std::is_integral_v<From>);

// The same, of types as values.
bool widens(Type from, Type to);

// Converts elements to a type that widens theirs; `to` has room for as many.
void widen(Type from, std::span<const std::byte> elements, Type type, std::byte* to);

}  // namespace upsweep
