// Refuses a rung that a machine cannot run.
#pragma once
#include "base/machine.h"
#include "base/rung.h"

namespace upsweep {

// Throws Error(unsupported) unless the machine meets the rung's needs: "sort/lane_sweep needs bulk copies ...", with
// the machine in the hint.
void require_needs(const Rung& rung, const Machine& machine);

}  // namespace upsweep
