// ceiling/launch: a kernel that does nothing: what a launch costs by itself.
#pragma once
#include "ladders/ceiling/contract.h"
#include "kernel/kernel.h"

namespace upsweep::ladders::ceiling {

static __global__ void launch_kernel() {}

struct launch {
  static constexpr Story story{.idea = "an empty kernel", .limits = "any n"};
  static Status run(const Call& c) { return upsweep::launch(launch_kernel, {.stream = c.stream}); }
};

}  // namespace upsweep::ladders::ceiling
