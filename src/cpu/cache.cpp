#include "cpu/cache.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>

namespace upsweep {
namespace {

// Read from sysfs rather than sysconf, because in a virtual machine sysconf adds up last-level caches of the host that
// the guest does not have. sysconf is used for the second level if sysfs does not list it.
struct Sizes {
  std::size_t second_level, last_level;
};
Sizes read_cache_sizes() {
  Sizes sizes{0, 0};
  for (int index = 0; index < 8; ++index) {  // no processor lists more: two of level 1 and up to three above
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    std::ifstream size_file(folder + "/size"), level_file(folder + "/level");
    std::size_t kib = 0;
    int level = 0;
    if (!(size_file >> kib)) continue;
    sizes.last_level = std::max(sizes.last_level, kib << 10);
    if (level_file >> level && level == 2) sizes.second_level = kib << 10;
  }
  if (!sizes.last_level) sizes.last_level = 32 << 20;  // unknown: a common size
  if (const long known = sysconf(_SC_LEVEL2_CACHE_SIZE); !sizes.second_level && known > 0)
    sizes.second_level = static_cast<std::size_t>(known);
  if (!sizes.second_level) sizes.second_level = 512 << 10;
  sizes.second_level = std::min(sizes.second_level, sizes.last_level);
  return sizes;
}

const Sizes& cache_sizes() {
  static const Sizes sizes = read_cache_sizes();
  return sizes;
}

std::atomic<std::size_t> assumed_last_level{0};  // 0: none is assumed

}  // namespace

std::size_t last_level_cache_bytes() {
  const std::size_t assumed = assumed_last_level.load(std::memory_order_relaxed);
  return assumed ? assumed : cache_sizes().last_level;
}
std::size_t second_level_cache_bytes() { return cache_sizes().second_level; }

AssumedLastLevelCache::AssumedLastLevelCache(std::size_t bytes) { assumed_last_level = bytes; }
AssumedLastLevelCache::~AssumedLastLevelCache() { assumed_last_level = 0; }

}  // namespace upsweep
