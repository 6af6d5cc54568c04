// The operations and scalars of upsweep/partition.h.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "upsweep/parameter.h"

namespace upsweep {

// The map from a key to its bucket: a bit field of the key, or its rank among ascending splitters.
enum class Bucketing : std::uint8_t { digit, splitters };
inline constexpr std::array<std::string_view, 2> bucketing_names{"digit", "splitters"};
constexpr std::string_view to_string(Bucketing b) { return bucketing_names[static_cast<std::size_t>(b)]; }

// Bits [first_bit, first_bit + bits) of a key, counted from the lowest.
struct Digit {
  static constexpr unsigned most_bits = 15;
  std::uint64_t first_bit = 0;
  std::uint64_t bits = 8;
};
inline constexpr ScalarTable partition_scalars{
    scalar<&Digit::first_bit>(
        {.name = "first_bit", .meaning = "lowest bit of the digit, counted from a key's lowest bit", .most = 63}),
    scalar<&Digit::bits>(
        {.name = "bits", .meaning = "width of the digit: 2^bits buckets", .least = 1, .most = Digit::most_bits})};

}  // namespace upsweep
