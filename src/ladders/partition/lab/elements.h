// Values beside keys, for the laboratory's sides of partition and sort.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/call.h"

namespace upsweep::ladders::partition {

// n values that differ, of 4, 8 or 16 bytes, or none.
struct MadeValues {
  // Throws Error(invalid_argument), as the primitive `who`, for any other width.
  MadeValues(std::string_view who, std::uint64_t value_bytes, std::size_t n);
  Array array() const { return input_array(type, bytes.size() / size_of(type), bytes.data()); }
  Type type;
  std::vector<std::byte> bytes;
};

// One value as text, for messages.
std::string text_of(const std::byte* value, std::size_t bytes);
// Of a key beside its value.
std::uint64_t hash_of(std::uint64_t key, const std::byte* value, std::size_t bytes);

}  // namespace upsweep::ladders::partition
