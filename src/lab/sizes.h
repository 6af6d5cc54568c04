// Numbers of elements as a user writes them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace upsweep::lab {

// "1000", "64K", "3M", "2^20", lists "1K,1M", and ranges of powers "2^10..2^24" (every power of two) or "1..1000"
// (doubling). K, M and G are powers of 1024, as sizes of arrays are. Throws Error(invalid_argument).
std::vector<std::size_t> parse_sizes(const std::string& text);

// "2^20" for a power of two from 2^10 up, digits otherwise.
std::string size_text(std::uint64_t n);

}  // namespace upsweep::lab
