#include "cpu/cache.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "upsweep/error.h"

namespace upsweep {
namespace {

// Cache sizes in bytes. Read from sysfs rather than sysconf(), which in a virtual machine adds up last-level caches of
// the host that the guest does not have. For the second level, sysconf() is the fallback if sysfs does not list it.
struct Sizes {
  std::size_t second_level, last_level;
};

// Returns the number in UPSWEEP_CACHE_BYTES; 0 if the variable is unset or empty. Throws Error(invalid_argument).
std::size_t assumed_last_level() {
  const char* const value = std::getenv("UPSWEEP_CACHE_BYTES");
  const std::string_view digits = value ? value : "";
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
  if (!digits.empty() && (error != std::errc() || end != digits.data() + digits.size() || bytes == 0))
    throw Error(Code::invalid_argument, "UPSWEEP_CACHE_BYTES is '" + std::string(digits) + "'",
                "a whole number of bytes from 1 on");
  return bytes;
}

Sizes read_cache_sizes() {
  Sizes sizes{0, 0};
  for (int index = 0; index < 8; ++index) {  // enough: two caches of level 1, up to three above
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    std::ifstream size_file(folder + "/size"), level_file(folder + "/level");
    std::size_t kib = 0;
    int level = 0;
    if (!(size_file >> kib)) continue;
    sizes.last_level = std::max(sizes.last_level, kib << 10);
    if (level_file >> level && level == 2) sizes.second_level = kib << 10;
  }
  if (const std::size_t assumed = assumed_last_level()) sizes.last_level = assumed;
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

}  // namespace

std::size_t last_level_cache_bytes() { return cache_sizes().last_level; }
std::size_t second_level_cache_bytes() { return cache_sizes().second_level; }

}  // namespace upsweep
