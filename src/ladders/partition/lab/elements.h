// Values that accompany keys, for the laboratory's sides of partition and sort.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/call.h"
#include "lab/settings.h"

namespace upsweep::ladders::partition {

inline constexpr Parameter value_bytes_shape{.name = "value_bytes",
                                             .meaning = "per value: 4, 8 or 16; 0 for keys alone",
                                             .most = 16,
                                             .initial = std::uint64_t{0}};
inline constexpr Parameter distinct_shape{.name = "distinct",
                                          .meaning = "number of distinct keys",
                                          .least = 1,
                                          .most = 0x1p32,
                                          .initial_in_words = "as in the input"};

// n distinct values of 4, 8 or 16 bytes, or none.
struct MadeValues {
  // Throws Error(invalid_argument) in the name of the primitive `who` for any other width.
  MadeValues(std::string_view who, std::uint64_t value_bytes, std::size_t n);
  Array array() const { return input_array(type, bytes.size() / size_of(type), bytes.data()); }
  Type type;
  std::vector<std::byte> bytes;
};

// For streams: returns the type of the values in a file according to `value_bytes`; nullopt if that is 0, because the
// file states the type or there are no values. Throws Error in the name of the primitive `who` for values that a file
// cannot hold.
std::optional<Type> type_of_values(std::string_view who, const Settings& settings);
// Throws Error(invalid_argument) if values of this type cannot be moved.
void require_values(std::string_view who, Type type);

// Returns a value as text, for messages.
std::string text_of(const std::byte* value, std::size_t bytes);
// Returns a hash of a key and its value.
std::uint64_t hash_of(std::uint64_t key, const std::byte* value, std::size_t bytes);

}  // namespace upsweep::ladders::partition
