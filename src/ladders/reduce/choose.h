// Which rung of reduce a call gets. Its crossovers are inside overlap, which has one kernel for all sizes.
#pragma once
#include "base/call.h"
#include "base/choice.h"
#include "base/machine.h"

namespace upsweep::ladders::reduce {

inline Choice choose(const Call&, const Machine& machine) {
  if (!machine.is_gpu()) return {"parallel", "all cores"};
  return {"overlap", "starts while the kernel before it ends"};
}

}  // namespace upsweep::ladders::reduce
