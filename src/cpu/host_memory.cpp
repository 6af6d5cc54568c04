#include "cpu/host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace upsweep {
namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

// Returns no_limit for "max", and if there is no such file.
std::size_t read_number(const char* path) {
  std::size_t value = 0;
  std::ifstream file(path);
  return file >> value ? value : no_limit;
}

std::size_t group_limit() { return read_number("/sys/fs/cgroup/memory.max"); }

}  // namespace

std::size_t host_memory_bytes() {
  return std::min(group_limit(),
                  static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

std::size_t available_host_bytes() {
  std::size_t available = no_limit;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string name, unit; meminfo >> name;) {
    std::size_t kib = 0;
    if (!(meminfo >> kib)) break;
    std::getline(meminfo, unit);
    if (name != "MemAvailable:") continue;
    available = kib * 1024;
    break;
  }
  const std::size_t limit = group_limit(), used = read_number("/sys/fs/cgroup/memory.current");
  if (limit != no_limit && used <= limit) available = std::min(available, limit - used);
  return available;
}

}  // namespace upsweep
