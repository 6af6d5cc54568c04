// The last-level cache: what does not fit it is best written around it.
#pragma once
#include <cstddef>

namespace upsweep {

// Bytes of the largest cache that core 0 sees; read once.
std::size_t last_level_cache_bytes();

// Where stores go. Around the caches saves reading the lines first, which an ordinary store does before it changes a
// part of each; but the lines are then in memory, for whoever reads them next.
enum class Stores { cached, around };

// What is faster where this many bytes are read and written: around, once they leave the last-level cache.
inline Stores stores_for(std::size_t bytes) {
  return bytes > last_level_cache_bytes() ? Stores::around : Stores::cached;
}

}  // namespace upsweep
