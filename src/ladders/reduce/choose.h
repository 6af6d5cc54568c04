// Chooses the rung for a call of reduce. The crossovers are inside the rungs, which handle all sizes.
#pragma once
#include "base/call.h"
#include "base/choice.h"
#include "base/machine.h"
#include "ladders/reduce/contract.h"

namespace upsweep::ladders::reduce {

inline Choice choose(const Call& call, const Machine& machine) {
  if (call.out[1].count > 0) return {"reproducible", "the rung that writes exact sums"};
  if (!machine.is_gpu()) return {"parallel", "all cores"};
  if (reduce_scalars.read(call.scalars).segment_length) return {"segments", "the rung that takes segments"};
  if (is_index(call.operation)) return {"first_extreme", "the rung that finds an index"};
  return {"overlap", "starts while the previous kernel ends"};
}

}  // namespace upsweep::ladders::reduce
