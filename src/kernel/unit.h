// The device, limited to what this unit's code supports.
#pragma once
#include "kernel/kernel.h"

namespace upsweep {
namespace {

// Returns the current device's Machine, with `code` set to the newest architecture that this unit is compiled for and
// the device can run. A unit may be compiled for other architectures than the library, so each has a copy of this
// function.
[[maybe_unused]] Machine machine_of_unit() {
  Machine m = machine();
#if defined(__CUDA_ARCH_LIST__)
  m.code = 0;
  for (const int arch : {__CUDA_ARCH_LIST__})
    if (arch / 10 <= m.capability && arch / 10 > m.code) m.code = arch / 10;
#endif
  return m;
}

}  // namespace
}  // namespace upsweep
