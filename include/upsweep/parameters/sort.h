// The operations and scalars of upsweep/sort.h.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "upsweep/parameter.h"

namespace upsweep {

enum class Order : std::uint8_t { ascending, descending };
inline constexpr std::array<std::string_view, 2> order_names{"ascending", "descending"};
constexpr std::string_view to_string(Order o) { return order_names[static_cast<std::size_t>(o)]; }

// by_value: -0 equals +0, and all NaN are equal and follow all numbers. total_order: IEEE 754's totalOrder, in which
// floats with different bits are never equal.
enum class FloatOrder : std::uint8_t { by_value, total_order };
inline constexpr std::array<std::string_view, 2> float_order_names{"by_value", "total_order"};
constexpr std::string_view to_string(FloatOrder o) { return float_order_names[static_cast<std::size_t>(o)]; }

struct Sorting {
  Order order = Order::ascending;
  std::uint64_t first_bit = 0;
  std::optional<std::uint64_t> bits{};  // empty: all from first_bit up
  FloatOrder float_order = FloatOrder::by_value;
};
inline constexpr ScalarTable sort_scalars{
    scalar<&Sorting::first_bit>(
        {.name = "first_bit", .meaning = "lowest bit of the encoded key that is compared", .most = 63}),
    scalar<&Sorting::bits>({.name = "bits",
                            .meaning = "number of bits compared, from first_bit up",
                            .least = 1,
                            .most = 64,
                            // At least one, so that the error for a first_bit beyond the key is about first_bit.
                            .initial_for =
                                [](Type element, std::span<const Scalar> before) {
                                  const std::uint64_t first = before[0].as<std::uint64_t>();
                                  const std::uint64_t width = 8 * size_of(element);
                                  return Scalar(first < width ? width - first : 1);
                                },
                            .initial_in_words = "the rest"}),
    scalar<&Sorting::float_order>({.name = "float_order",
                                   .meaning = "by_value: -0 equals +0, NaN is last; total_order: IEEE 754's",
                                   .choices = float_order_names})};

}  // namespace upsweep
