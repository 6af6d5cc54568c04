// ceiling: this machine's limits, measured like any rung: how fast memory can be read, written and copied.
//
// Type u32, any n. in[0] has n words, out[0] n words, at least one.
//   read    out[0] = in[0] xor ... xor in[n-1]; 0 if n is 0 (a result, so that no compiler drops the loads)
//   write   out[i] = pattern(i)
//   copy    out[i] = in[i]
//   triad   out[i] = in[i] + 3 * in[half + 64 + i] for i < half: two streams in, one out (McCalpin's STREAM, 1995)
//   link    copies in to the device while it copies out[i] = in[i % link_chunk], i < n / 2, from it: two arrays to the
//           device and one back, from and to pinned host memory
//   launch  nothing: the cost of a call or a launch by itself
#pragma once
#include <cstdint>

#include "base/call.h"

namespace upsweep::ladders::ceiling {

// Knuth's multiplicative hash: cheap, and no two words of a buffer look alike.
inline constexpr std::uint32_t pattern_step = 2654435761u;
constexpr std::uint32_t pattern(std::size_t i) { return static_cast<std::uint32_t>(i) * pattern_step; }

// The second stream begins triad_gap words after the end of the first: at a distance of a power of two, both streams
// would meet in the same cache sets and memory banks (two Zen 4 cores, n = 2^28, GB/s without a gap and with 64 words:
// 31 and 59, 28 and 40, 16 and 30, in three rounds with other work on the machine). The gap is a whole number of
// vectors on any processor, so that both streams are aligned alike.
inline constexpr std::size_t triad_gap = 64;
constexpr std::size_t triad_half(std::size_t n) { return n < triad_gap ? 0 : (n - triad_gap) / 2 / 16 * 16; }
constexpr std::uint32_t triad_of(std::uint32_t a, std::uint32_t b) { return a + 3 * b; }

// Words per copy: 32 MiB, which hides the start of a copy. The emulator's arrays are smaller, but still several chunks.
constexpr std::size_t link_chunk(bool emulated) { return std::size_t{1} << (emulated ? 12 : 23); }

}  // namespace upsweep::ladders::ceiling
