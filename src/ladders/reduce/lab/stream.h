// reduce, streamed: see Streamer.
#pragma once
#include <memory>

#include "lab/primitive.h"

namespace upsweep::ladders::reduce {

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c);

}  // namespace upsweep::ladders::reduce
