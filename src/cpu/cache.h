// Cache sizes. Stores to data that does not fit in the last-level cache should bypass it.
#pragma once
#include <cstddef>

namespace upsweep {

// Returns the size in bytes of the largest cache that core 0 sees; read once.
std::size_t last_level_cache_bytes();

// For tests. While it exists, last_level_cache_bytes() returns `bytes`, so that small arrays exceed the caches.
class AssumedLastLevelCache {
 public:
  explicit AssumedLastLevelCache(std::size_t bytes);
  ~AssumedLastLevelCache();
  AssumedLastLevelCache(const AssumedLastLevelCache&) = delete;
  AssumedLastLevelCache& operator=(const AssumedLastLevelCache&) = delete;
};

// Returns the size in bytes of a core's second-level cache; read once.
std::size_t second_level_cache_bytes();

// Cached stores, or non-temporal ones around the caches. The latter avoid the read for ownership of an ordinary store
// to part of a line, but the next reader has to fetch the lines from memory.
enum class Stores { cached, around };

// Returns the faster kind for a pass that reads and writes this many bytes: around, if they exceed the last-level
// cache.
inline Stores stores_for(std::size_t bytes) {
  return bytes > last_level_cache_bytes() ? Stores::around : Stores::cached;
}

}  // namespace upsweep
