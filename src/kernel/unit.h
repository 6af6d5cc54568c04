// The device as the code of this unit can use it.
#pragma once
#include "kernel/kernel.h"

namespace upsweep {
namespace {

// A unit may be compiled for another architecture than the library, so every unit has a function of its own.
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
