// The loops of the CPU's ceilings over one part of a buffer, in whole vectors.
#pragma once
#include <cstddef>
#include <cstdint>

namespace upsweep::ladders::ceiling {

// Each for this processor's vector width. Words at any alignment of a word.
struct Loops {
  // The xor of all words; `from_memory`: not from the core's own caches, for which another loop is best.
  std::uint32_t (*read)(const std::uint32_t* in, std::size_t n, bool from_memory);
  // out[i] = pattern(first + i). `bypass`: with stores that go around the caches, which saves reading the lines
  // first but loses them for whoever reads next.
  void (*write)(std::uint32_t* out, std::size_t n, std::size_t first, bool bypass);
  void (*copy)(const std::uint32_t* in, std::uint32_t* out, std::size_t n, bool bypass);
  void (*triad)(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* out, std::size_t n, bool bypass);
};
const Loops& loops();

}  // namespace upsweep::ladders::ceiling
