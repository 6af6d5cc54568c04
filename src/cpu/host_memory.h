// The memory that this process may use.
#pragma once
#include <cstddef>
#include <string>

namespace upsweep {

// Returns the machine's memory in bytes, or the lowest limit on the process (ulimit) or on its cgroups, if that is
// lower.
std::size_t host_memory_bytes();

// Returns the bytes that can still be allocated without failing, swapping or being killed: the minimum of MemAvailable
// and what the limits on the process and its cgroups leave.
std::size_t available_host_bytes();

namespace detail {
struct HostMemory {
  std::size_t bytes, available;
};
// Reads both sizes from the files of /proc and /sys under another root directory, for tests.
HostMemory read_host_memory(const std::string& root);
}  // namespace detail

}  // namespace upsweep
