// saxpy over inputs that need not fit in memory.
#pragma once
#include <memory>

#include "lab/primitive.h"

namespace upsweep::ladders::saxpy {

// The main input is x, the other one y. Throws Error(unsupported) when the rung does not take the type.
std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c);

}  // namespace upsweep::ladders::saxpy
