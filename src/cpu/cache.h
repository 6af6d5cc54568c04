// The caches' sizes: stores to data that does not fit in the last level should bypass it.
#pragma once
#include <cstddef>

namespace upsweep {

// Returns the size in bytes of the largest cache that core 0 sees; read once.
std::size_t last_level_cache_bytes();

// Returns the size in bytes of a core's second-level cache; read once.
std::size_t second_level_cache_bytes();

// Kinds of stores. Stores around the caches (non-temporal) avoid the read for ownership that an ordinary store to a
// part of a line causes; but the lines are then in memory for the next reader.
enum class Stores { cached, around };

// Returns the faster kind for a pass that reads and writes this many bytes: around, once they exceed the last-level
// cache.
inline Stores stores_for(std::size_t bytes) {
  return bytes > last_level_cache_bytes() ? Stores::around : Stores::cached;
}

}  // namespace upsweep
