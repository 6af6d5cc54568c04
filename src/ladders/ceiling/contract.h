// ceiling: this machine's limits, such as its read, write and copy bandwidth, each measured like a rung.
//
// Type u32, any n. in[0] has n words, out[0] max(n, 1) words.
//   read    out[0] = in[0] xor ... xor in[n-1]; 0 if n is 0 (the result keeps compilers from dropping the loads)
//   write   out[i] = pattern(i)
//   copy    out[i] = in[i]
//   triad   out[i] = in[i] + 3 * in[half + 64 + i] for i < half: two streams in, one out (McCalpin's STREAM, 1995)
//   link    copies in[] from pinned host memory to the device and, at the same time, out[i] = in[i % link_chunk] for
//           i < n / 2 from the device to pinned host memory: two words to the device per word back
//   launch  does nothing: measures the cost of an empty call or launch
#pragma once
#include <cstdint>

#include "base/call.h"

namespace upsweep::ladders::ceiling {

// Knuth's multiplicative hash: cheap, and distinct for up to 2^32 words.
inline constexpr std::uint32_t pattern_step = 2654435761u;
constexpr std::uint32_t pattern(std::size_t i) { return static_cast<std::uint32_t>(i) * pattern_step; }

// The second stream begins triad_gap words after the end of the first: at a power-of-two distance, both streams would
// map to the same cache sets and memory banks. The gap is a multiple of every vector width, so both streams have the
// same alignment. Triad on two Zen 4 cores, n = 2^28, in three rounds with other work on the machine, GB/s:
//
//   no gap      31   28   16
//   64 words    59   40   30
inline constexpr std::size_t triad_gap = 64;
constexpr std::size_t triad_half(std::size_t n) { return n < triad_gap ? 0 : (n - triad_gap) / 2 / 16 * 16; }
constexpr std::uint32_t triad_of(std::uint32_t a, std::uint32_t b) { return a + 3 * b; }

}  // namespace upsweep::ladders::ceiling
