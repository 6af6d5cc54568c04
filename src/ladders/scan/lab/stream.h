// scan over an input that need not fit in memory.
#pragma once
#include <memory>

#include "lab/primitive.h"

namespace upsweep::ladders::scan {

// Throws Error(unsupported) when the rung does not take the type and operator, or takes only so many elements.
std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c);

}  // namespace upsweep::ladders::scan
