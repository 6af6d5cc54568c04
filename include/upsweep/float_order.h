// Which floats are equal to upsweep/sort.h: the zeros, and all NaN, which come after all other numbers; or none that
// differ in a bit, as in IEEE 754's totalOrder.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace upsweep {

enum class FloatOrder : std::uint8_t { by_value, total_order };
inline constexpr std::array<std::string_view, 2> float_order_names{"by_value", "total_order"};
constexpr std::string_view to_string(FloatOrder o) { return float_order_names[static_cast<std::size_t>(o)]; }

}  // namespace upsweep
