// How much memory this process may use.
#pragma once
#include <cstddef>

namespace upsweep {

// Returns the bytes of the machine's memory, or of the control group's limit if that is lower.
std::size_t host_memory_bytes();

// Returns the bytes that can still be allocated without swapping or being killed: the lesser of MemAvailable and what
// the control group leaves.
std::size_t available_host_bytes();

}  // namespace upsweep
