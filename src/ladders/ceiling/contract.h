// ceiling: this machine's limits, measured like any rung: how fast memory can be read, written and copied.
//
// Type u32, any n. in[0] has n words, out[0] max(n, 1) words.
//   read    out[0] = in[0] xor ... xor in[n-1]; 0 if n is 0 (the result keeps compilers from dropping the loads)
//   write   out[i] = pattern(i)
//   copy    out[i] = in[i]
//   triad   out[i] = in[i] + 3 * in[half + 64 + i] for i < half: two streams in, one out (McCalpin's STREAM, 1995)
//   link    copies in[] to the device and, at the same time, out[i] = in[i % link_chunk], i < n / 2, back from it: two
//           words to the device per word back, from and to pinned host memory
//   launch  nothing: the cost of an empty call or launch
#pragma once
#include <cstdint>

#include "base/call.h"

namespace upsweep::ladders::ceiling {

// Knuth's multiplicative hash: cheap, and different for every word of a buffer.
inline constexpr std::uint32_t pattern_step = 2654435761u;
constexpr std::uint32_t pattern(std::size_t i) { return static_cast<std::uint32_t>(i) * pattern_step; }

// The second stream begins triad_gap words after the end of the first: at a power-of-two distance, both streams would
// map to the same cache sets and memory banks (two Zen 4 cores, n = 2^28, GB/s without a gap and with 64 words: 31 and
// 59, 28 and 40, 16 and 30, in three rounds with other work on the machine). The gap is a multiple of every vector
// width, so both streams have the same alignment.
inline constexpr std::size_t triad_gap = 64;
constexpr std::size_t triad_half(std::size_t n) { return n < triad_gap ? 0 : (n - triad_gap) / 2 / 16 * 16; }
constexpr std::uint32_t triad_of(std::uint32_t a, std::uint32_t b) { return a + 3 * b; }

}  // namespace upsweep::ladders::ceiling
