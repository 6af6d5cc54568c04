// The memory that this process may use.
#pragma once
#include <cstddef>
#include <string>

namespace upsweep {

// Returns the machine's memory in bytes, or the lowest limit of the process (ulimit) and its cgroups.
std::size_t host_memory_bytes();

// Returns the bytes that can still be allocated without failing, swapping or being killed: the minimum of MemAvailable
// and what the limits of the process and its cgroups leave.
std::size_t available_host_bytes();

namespace detail {
struct HostMemory {
  std::size_t bytes, available;
};
// Reads both from the files of /proc and /sys under another root, for tests.
HostMemory read_host_memory(const std::string& root);
}  // namespace detail

}  // namespace upsweep
