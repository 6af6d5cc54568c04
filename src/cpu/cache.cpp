#include "cpu/cache.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace upsweep {
namespace {

// Read from sysfs rather than sysconf, which in a virtual machine adds up caches of the host that the machine does not
// have.
std::size_t read_cache_sizes() {
  std::size_t largest = 0;
  for (int index = 0; index < 8; ++index) {  // no processor lists more: two of level 1 and up to three above
    std::ifstream size("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    if (std::size_t kib; size >> kib) largest = std::max(largest, kib << 10);
  }
  if (largest) return largest;
  return 32 << 20;  // unknown: a common size
}

}  // namespace

std::size_t last_level_cache_bytes() {
  static const std::size_t bytes = read_cache_sizes();
  return bytes;
}

}  // namespace upsweep
