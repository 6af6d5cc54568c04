// Chooses the rung of a call of rotate.
#pragma once
#include "base/call.h"
#include "base/choice.h"
#include "base/machine.h"

namespace upsweep::ladders::rotate {

inline Choice choose(const Call&, const Machine& machine) {
  if (!machine.is_gpu()) return {"serial", "one loop"};
  return {"naive", "one thread per element"};
}

}  // namespace upsweep::ladders::rotate
