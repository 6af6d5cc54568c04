// ceiling/launch: launches an empty kernel, which measures the cost of a launch alone.
#pragma once
#include "kernel/kernel.h"
#include "ladders/ceiling/contract.h"

namespace upsweep::ladders::ceiling {

static __global__ void launch_kernel() {}

struct launch {
  static constexpr Story story{.idea = "an empty kernel", .limits = "any n"};
  static Status run(const Call& c) { return upsweep::launch(launch_kernel, {.stream = c.stream}); }
};

}  // namespace upsweep::ladders::ceiling
