// ceiling: what this machine can do, measured like any rung: how fast memory can be read, written and copied.
//
// Type u32, any n. in[0] is n words, out[0] n words (one at least).
//   read    out[0] = in[0] xor ... xor in[n-1]; 0 when n is 0 (a result, so that no compiler drops the loads)
//   write   out[i] = pattern(i)
//   copy    out[i] = in[i]
//   triad   out[i] = in[i] + 3 * in[half + 64 + i] for i < half: two streams in, one out (McCalpin's STREAM, 1995)
//   link    in to the device, out[i] = in[i % link_chunk] for i < n / 2 from it, both at once: the way of two arrays to
//   the
//           device and of one back, from and to pinned host memory
//   launch  nothing at all: what a call or a launch costs by itself
#pragma once
#include <cstdint>

#include "base/rung.h"
#include "base/workspace.h"

namespace upsweep::ladders::ceiling {

// Knuth's multiplicative hash: cheap, and no two words of a buffer look alike.
inline constexpr std::uint32_t pattern_step = 2654435761u;
constexpr std::uint32_t pattern(std::size_t i) { return static_cast<std::uint32_t>(i) * pattern_step; }

// The second stream begins triad_gap words after the first has ended: at a distance of a power of two the streams would
// meet in the same cache sets and banks of memory (two Zen 4 cores, n = 2^28, GB/s without a gap and with 64 words:
// 31 and 59, 28 and 40, 16 and 30, in three rounds with other work on the machine). Whole vectors of any processor, so
// that both are aligned alike.
inline constexpr std::size_t triad_gap = 64;
constexpr std::size_t triad_half(std::size_t n) { return n < triad_gap ? 0 : (n - triad_gap) / 2 / 16 * 16; }
constexpr std::uint32_t triad_of(std::uint32_t a, std::uint32_t b) { return a + 3 * b; }

// Words of a copy: 32 MiB, in which its start is lost. The emulator's arrays are smaller, and still several.
constexpr std::size_t link_chunk(Backend backend) { return std::size_t{1} << (backend == Backend::simt ? 12 : 23); }

template <class R>
RunFn find_run(Type type, Operation) {
  return type == Type::u32 ? &R::run : nullptr;
}

// The Rung of an implementation struct R: its name, R::story, and R::run(const Call&).
template <class R>
constexpr Rung make_rung(std::string_view name, Backend backend) {
  Rung rung{.primitive = "ceiling", .name = name, .backend = backend, .story = R::story, .find = &find_run<R>};
  if constexpr (requires { R::arrays; }) rung.arrays = R::arrays;
  if constexpr (requires { R::gpu_only; }) rung.gpu_only = R::gpu_only;
  return rung;
}

}  // namespace upsweep::ladders::ceiling
