// The launch of a test kernel, and its encoding in a Call.
#pragma once
#include <cstddef>

#include "base/call.h"

namespace upsweep::test {

struct Launch {
  unsigned grid = 1, grid_y = 1, block = 32, block_y = 1, cluster = 1;
  bool overlap = false;    // programmatic dependent launch
  std::size_t shared = 0;  // dynamic shared memory, bytes
  int k = 0;               // the kernel's integer argument
};

// Stored in the last input, because kernels use at most three. `launch` must outlive the call.
inline void set_launch(Call& call, const Launch& launch) { call.in[3] = input_array(Type::u8, sizeof launch, &launch); }
inline const Launch& launch_of(const Call& call) { return *call.in[3].as<const Launch>(); }

}  // namespace upsweep::test
