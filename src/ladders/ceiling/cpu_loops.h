// The SIMD loops of the CPU ceilings. A call processes one part of the arrays.
#pragma once
#include <cstddef>
#include <cstdint>

namespace upsweep::ladders::ceiling {

// Loops for this processor's vector width. Arrays need only be aligned to a word.
struct Loops {
  // Returns the xor of all words. `from_memory`: the words are not in the core's private caches, so narrower vectors
  // are faster.
  std::uint32_t (*read)(const std::uint32_t* in, std::size_t n, bool from_memory);
  // Writes out[i] = pattern(first + i). `bypass` selects non-temporal stores, which avoid reading each line before it
  // is written but leave nothing in the caches for the next reader.
  void (*write)(std::uint32_t* out, std::size_t n, std::size_t first, bool bypass);
  void (*copy)(const std::uint32_t* in, std::uint32_t* out, std::size_t n, bool bypass);
  void (*triad)(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* out, std::size_t n, bool bypass);
};
const Loops& loops();

}  // namespace upsweep::ladders::ceiling
