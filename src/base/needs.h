// The refusal of a rung that a machine cannot run.
#pragma once
#include "base/machine.h"
#include "base/rung.h"

namespace upsweep {

// Throws Error(unsupported), "sort/lane_sweep needs bulk copies ...", with what this machine is, unless it has what the
// rung needs.
void require_needs(const Rung& rung, const Machine& machine);

}  // namespace upsweep
