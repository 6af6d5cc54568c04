// Chooses the rung for a call of reduce. The crossovers are inside overlap, which handles all sizes.
#pragma once
#include "base/call.h"
#include "base/choice.h"
#include "base/machine.h"

namespace upsweep::ladders::reduce {

inline Choice choose(const Call&, const Machine& machine) {
  if (!machine.is_gpu()) return {"parallel", "all cores"};
  return {"overlap", "starts while the previous kernel ends"};
}

}  // namespace upsweep::ladders::reduce
