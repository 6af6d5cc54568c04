#include "cpu/host_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace upsweep {
namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

// Returns the number in a file; no_limit if the file says "max" or does not exist.
std::size_t read_number(const std::string& path) {
  std::size_t value = 0;
  std::ifstream file(path);
  return file >> value ? value : no_limit;
}

// Returns the number that follows `wanted` in a file of names and numbers, or `nothing_said` if it is missing.
std::size_t read_named(const std::string& path, const std::string& wanted, std::size_t nothing_said) {
  std::ifstream file(path);
  for (std::string name, rest; file >> name; std::getline(file, rest)) {
    std::size_t value = 0;
    if (name == wanted && file >> value) return value;
  }
  return nothing_said;
}

// Applies a limit of the process, `ulimit -v` or `ulimit -d`, to `memory`. The soft limit is the first number in "Max
// data size   1000   2000   bytes".
void lower(detail::HostMemory& memory, const std::string& root, const std::string& limit, const std::string& used) {
  std::ifstream limits(root + "/proc/self/limits");
  for (std::string line; std::getline(limits, line);) {
    std::size_t bytes = 0;
    if (!line.starts_with(limit) || !(std::istringstream(line.substr(limit.size())) >> bytes)) continue;
    const std::size_t taken = read_named(root + "/proc/self/status", used, 0) * 1024;
    memory.bytes = std::min(memory.bytes, bytes);
    memory.available = std::min(memory.available, bytes - std::min(bytes, taken));
  }
}

// The files of one cgroup version.
struct Version {
  std::string mount, limit, used, inactive;
};

// Applies a cgroup's limit to `memory`. Inactive file pages do not count as used, because the kernel reclaims them
// before it kills a process.
void lower(detail::HostMemory& memory, const Version& v, const std::string& folder) {
  const std::size_t limit = read_number(folder + v.limit), used = read_number(folder + v.used);
  memory.bytes = std::min(memory.bytes, limit);
  if (limit == no_limit || used == no_limit) return;
  const std::size_t needed = used - std::min(used, read_named(folder + "/memory.stat", v.inactive, 0));
  memory.available = std::min(memory.available, limit - std::min(limit, needed));
}

}  // namespace

// A process is limited by its cgroup and all of that group's ancestors. Inside a container, the group may have no
// folder; the mount's root folder is then the container's group.
detail::HostMemory detail::read_host_memory(const std::string& root) {
  HostMemory memory{read_named(root + "/proc/meminfo", "MemTotal:", no_limit / 1024) * 1024,
                    read_named(root + "/proc/meminfo", "MemAvailable:", no_limit / 1024) * 1024};
  const Version second{root + "/sys/fs/cgroup", "/memory.max", "/memory.current", "inactive_file"};
  const Version first{root + "/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                      "total_inactive_file"};
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // version 1: "4:memory:/path"; version 2: "0::/path"
    const std::size_t controllers = line.find(':') + 1, path = line.find(':', controllers) + 1;
    if (controllers == 0 || path == 0) continue;
    const std::string names = "," + line.substr(controllers, path - 1 - controllers) + ",";
    if (names != ",," && names.find(",memory,") == names.npos) continue;
    const Version& v = names == ",," ? second : first;
    for (std::string group = line.substr(path); !group.empty(); group.resize(group.rfind('/')))
      lower(memory, v, v.mount + group);
    lower(memory, v, v.mount);
  }
  lower(memory, root, "Max address space", "VmSize:");
  lower(memory, root, "Max data size", "VmData:");
  return memory;
}

std::size_t host_memory_bytes() { return detail::read_host_memory("").bytes; }
std::size_t available_host_bytes() { return detail::read_host_memory("").available; }

}  // namespace upsweep
