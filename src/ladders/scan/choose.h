// Chooses the rung for a call of scan.
#pragma once
#include "base/call.h"
#include "base/choice.h"
#include "base/machine.h"
#include "base/threshold.h"

namespace upsweep::ladders::scan {

// Maximum input for wave, in bytes: up to it, all tiles are resident together. On an H200, wave is faster up to 2^19
// words of 4 bytes, pipeline from 2^20 on.
inline constinit Threshold most_for_wave{"most_for_wave", 2 << 20, 8 << 10};
inline Threshold* const thresholds[] = {&most_for_wave};

inline constexpr Needs pipeline_needs{{Feature::bulk_copy}, 197'048};

// Chooses the GPU rung, for any element type, including user-defined ones.
inline Choice choose(std::size_t input_bytes, const Machine& machine) {
  if (input_bytes <= most_for_wave) return {"wave", "all tiles are resident at once"};
  if (machine.meets(pipeline_needs)) return {"pipeline", "more tiles than are resident at once"};
  return {"lookback", "a GPU without bulk copies, or without 193 KiB of shared memory"};
}

inline Choice choose(const Call& c, const Machine& machine) {
  if (!machine.is_gpu()) return {"parallel", "all cores"};
  return choose(c.in[0].bytes(), machine);
}

}  // namespace upsweep::ladders::scan
