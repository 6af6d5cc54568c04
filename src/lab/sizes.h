// Element counts and amounts of memory as users type them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace upsweep::lab {

// Parses "1000", "64K", "1.5M", "1e6", "2^20", lists "1K,1M", and doubling ranges "2^10..2^24" or "1..1000". K, M, G
// and T are powers of 1024, as is usual for array sizes. Throws Error(invalid_argument).
std::vector<std::size_t> parse_sizes(const std::string& text);

// Parses the value of an option that takes one size. Throws Error(invalid_argument), also for a list.
std::size_t parse_size(std::string_view option, const std::string& text);

// Parses an amount of memory in bytes: one size as above, "8GiB", which is the same as 8G, or "8GB", which is 8 * 10^9.
// Rounds down to whole bytes.
std::size_t parse_bytes(std::string_view option, const std::string& text);

// Formats a size: "2^20" for a power of two from 2^10 up, digits otherwise.
std::string size_text(std::uint64_t n);

}  // namespace upsweep::lab
