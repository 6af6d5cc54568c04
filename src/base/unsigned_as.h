// The unsigned integer of the same size as a type.
#pragma once
#include <bit>
#include <cstdint>
#include <tuple>

namespace upsweep {

template <class T>
using UnsignedAs = std::tuple_element_t<std::bit_width(sizeof(T)) - 1,
                                        std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>>;

}  // namespace upsweep
