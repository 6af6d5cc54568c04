// The device properties that launchers need.
#pragma once
#include <cstddef>

namespace upsweep {

// Limits of the current device; queried once and cached.
struct DeviceLimits {
  int multiprocessors;           // SMs; a power of two for the emulator, so that its tests are quick
  int threads_per_sm;            // most resident
  std::size_t shared_per_block;  // most dynamic shared memory per block (opt-in), bytes
};
const DeviceLimits& device_limits();

}  // namespace upsweep
