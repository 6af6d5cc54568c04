// select over an input that need not fit in memory.
#pragma once
#include <memory>

#include "base/primitive.h"

namespace upsweep::ladders::select {

// find_repeats, select_if and unique. Positions are u64 whatever the length, so that a file's type does not depend on
// how much was read. Throws Error(unsupported) for the other operations (select_flagged has a second input,
// run_length_encode a second output, and where the rest of partition_if begins is known last), and when the rung does
// not take the type and operation, or takes only so many elements.
std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c);

}  // namespace upsweep::ladders::select
