// Chooses the rung for a saxpy call.
#pragma once
#include "base/call.h"
#include "base/choice.h"
#include "base/machine.h"

namespace upsweep::ladders::saxpy {

inline Choice choose(const Call& c, const Machine& machine) {
  if (!machine.is_gpu()) return {"parallel", "all cores"};
  if (c.arrays != MemoryKind::device) return {"from_host_pipelined", "the arrays do not fit in device memory"};
  return {"one_pack", "one pack per thread, in small blocks"};
}

}  // namespace upsweep::ladders::saxpy
