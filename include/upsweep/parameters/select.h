// The operations of upsweep/select.h.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace upsweep {

enum class Selection : std::uint8_t {
  find_repeats,
  nonzero,
  select_if,
  select_flagged,
  unique,
  run_length_encode,
  partition_if
};
inline constexpr std::array<std::string_view, 7> selection_names{
    "find_repeats", "nonzero", "select_if", "select_flagged", "unique", "run_length_encode", "partition_if"};
constexpr std::string_view to_string(Selection s) { return selection_names[static_cast<std::size_t>(s)]; }

}  // namespace upsweep
