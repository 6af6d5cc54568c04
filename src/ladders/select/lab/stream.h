// select over an input that need not fit in memory.
#pragma once
#include <memory>

#include "lab/primitive.h"

namespace upsweep::ladders::select {

// Positions and lengths are u64 whatever the length, so that a file's type does not depend on how much was read. Beside
// the main output, run_length_encode has the lengths, and partition_if the elements that it leaves: where they begin
// behind the others is known when all has been read. Throws Error(unsupported) when the rung does not take the type and
// operation, or takes only so many elements.
std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c);

}  // namespace upsweep::ladders::select
