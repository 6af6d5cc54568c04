// saxpy over inputs that need not fit in memory.
#pragma once
#include <memory>

#include "base/primitive.h"

namespace upsweep::ladders::saxpy {

// The main input is x, the other one y. Throws Error: unsupported when the rung does not take the type,
// invalid_argument for a factor that a parameter does not hold exactly.
std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c);

}  // namespace upsweep::ladders::saxpy
