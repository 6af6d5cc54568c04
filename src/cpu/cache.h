// Cache sizes. Stores to data that does not fit in the last-level cache should bypass it.
#pragma once
#include <cstddef>

namespace upsweep {

// Returns the size in bytes of the largest cache that core 0 sees, or the number in UPSWEEP_CACHE_BYTES in the
// environment; read once. A virtual machine may list a cache of its host, of which it has only a share.
std::size_t last_level_cache_bytes();

// Returns the size in bytes of a core's second-level cache; read once.
std::size_t second_level_cache_bytes();

// Ordinary cached stores, or non-temporal stores around the caches. Non-temporal stores avoid the read for ownership
// that an ordinary store to part of a line causes, but the next reader has to fetch the lines from memory.
enum class Stores { cached, around };

// Returns the faster kind of stores for a pass that reads and writes this many bytes in total: `around` if they exceed
// the last-level cache.
inline Stores stores_for(std::size_t bytes) {
  return bytes > last_level_cache_bytes() ? Stores::around : Stores::cached;
}

}  // namespace upsweep
