// scan over an input that need not fit in memory.
#pragma once
#include <memory>

#include "base/primitive.h"

namespace upsweep::ladders::scan {

// Throws Error(unsupported) when the rung does not take the type and operator, takes only so many elements, or promises
// the same bits at any split, which chunks would break.
std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c);

}  // namespace upsweep::ladders::scan
