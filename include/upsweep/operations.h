// The choices that some primitives leave to a call, besides the operators of operators.h.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace upsweep {

// The selections of upsweep/select.h.
enum class Selection : std::uint8_t {
  find_repeats,
  select_if,
  select_flagged,
  unique,
  run_length_encode,
  partition_if
};
inline constexpr std::array<std::string_view, 6> selection_names{"find_repeats", "select_if",         "select_flagged",
                                                                 "unique",       "run_length_encode", "partition_if"};
constexpr std::string_view to_string(Selection s) { return selection_names[static_cast<std::size_t>(s)]; }

// How upsweep/histogram.h maps a sample to a bin: equal parts of a range; ascending edges; or the sample itself.
enum class Binning : std::uint8_t { even, edges, direct };
inline constexpr std::array<std::string_view, 3> binning_names{"even", "edges", "direct"};
constexpr std::string_view to_string(Binning b) { return binning_names[static_cast<std::size_t>(b)]; }

// How upsweep/partition.h maps a key to its bucket: some of its bits; or its rank among ascending splitters.
enum class Bucketing : std::uint8_t { digit, splitters };
inline constexpr std::array<std::string_view, 2> bucketing_names{"digit", "splitters"};
constexpr std::string_view to_string(Bucketing b) { return bucketing_names[static_cast<std::size_t>(b)]; }

// The order of upsweep/sort.h.
enum class Order : std::uint8_t { ascending, descending };
inline constexpr std::array<std::string_view, 2> order_names{"ascending", "descending"};
constexpr std::string_view to_string(Order o) { return order_names[static_cast<std::size_t>(o)]; }

// How the heads of segments are given: u8 flags, nonzero at a head; u32 keys, where equal neighbours form a segment; or
// ascending u64 offsets.
enum class HeadKind : std::uint8_t { flags, keys, offsets };
inline constexpr std::array<std::string_view, 3> head_kind_names{"flags", "keys", "offsets"};
constexpr std::string_view to_string(HeadKind k) { return head_kind_names[static_cast<std::size_t>(k)]; }

// The channels of a pixel in upsweep/render.h: three colours and 1; three colours and the coverage, 1 + the sum of the
// alphas that cover the pixel; or three colours.
enum class Channels : std::uint8_t { rgba, rgbw, rgb };
inline constexpr std::array<std::string_view, 3> channels_names{"rgba", "rgbw", "rgb"};
constexpr std::string_view to_string(Channels c) { return channels_names[static_cast<std::size_t>(c)]; }
constexpr unsigned count_of(Channels c) { return c == Channels::rgb ? 3 : 4; }

// How upsweep/render.h colours a circle: all of it alike; or as a snowflake, whose alpha and colour change towards its
// rim.
enum class Shading : std::uint8_t { flat, snow };
inline constexpr std::array<std::string_view, 2> shading_names{"flat", "snow"};
constexpr std::string_view to_string(Shading s) { return shading_names[static_cast<std::size_t>(s)]; }

}  // namespace upsweep
