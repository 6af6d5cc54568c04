// Lossless conversions from a narrow element type to a wider one.
#pragma once
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "upsweep/types.h"

namespace upsweep {

// True if To represents every value of From, differs from From, and is not f16 or bf16.
template <class From, class To>
inline constexpr bool is_wider =
    !std::is_same_v<From, To> && std::numeric_limits<To>::digits >= std::numeric_limits<From>::digits &&
    (std::numeric_limits<To>::is_signed || std::is_unsigned_v<From>) && (is_floating<To> || std::is_integral_v<From>) &&
    !is_half<To>;

// is_wider for types that are known only at run time.
bool widens(Type from, Type to);

// Converts elements to a wider type, for which widens() is true. `to` has room for as many.
void widen(Type from, std::span<const std::byte> elements, Type type, std::byte* to);

}  // namespace upsweep
