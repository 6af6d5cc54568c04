// Which rung of saxpy a call gets.
#pragma once
#include "base/call.h"
#include "base/choice.h"
#include "base/machine.h"

namespace upsweep::ladders::saxpy {

inline Choice choose(const Call& c, const Machine& machine) {
  if (!machine.is_gpu()) return {"parallel", "all cores"};
  if (c.arrays != MemoryKind::device) return {"from_host_pipelined", "the arrays do not fit in device memory"};
  return {"one_pack", "as many small blocks as there are packs"};
}

}  // namespace upsweep::ladders::saxpy
