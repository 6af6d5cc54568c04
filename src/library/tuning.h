// Applies tuning files (upsweep/tuning.h) to the thresholds of a program's devices.
#pragma once
#include "base/platform.h"

namespace upsweep::detail {

// Registers the thresholds of this platform's rungs, and sets those named in the files loaded so far. The first call
// reads the file of UPSWEEP_TUNING. Throws as load_tuning() does.
void tune(Platform& platform);

}  // namespace upsweep::detail
