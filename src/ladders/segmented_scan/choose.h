// Chooses the rung for a call of segmented_scan.
#pragma once
#include "base/call.h"
#include "base/choice.h"
#include "base/machine.h"
#include "base/threshold.h"

namespace upsweep::ladders::segmented_scan {

// Maximum input size in bytes for lookback; beyond it, pipeline is faster. On an H200, 10 MiB take 13.4 us with
// lookback and 16.4 us with pipeline; 12 MiB take 17.2 and 16.9 us.
inline constinit Threshold most_for_lookback{"most_for_lookback", 10 << 20, 8 << 10};
inline Threshold* const thresholds[] = {&most_for_lookback};

inline constexpr Needs pipeline_needs{{Feature::bulk_copy}, 222'248};

inline Choice choose(const Call& c, const Machine& machine) {
  if (!machine.is_gpu()) return {"parallel", "all cores"};
  if (!machine.meets(pipeline_needs))
    return {"lookback", "a GPU without bulk copies, or without 217 KiB of shared memory"};
  if (c.in[0].bytes() <= most_for_lookback) return {"lookback", "too few tiles to fill a pipeline"};
  return {"pipeline", "tiles pass from warp to warp"};
}

}  // namespace upsweep::ladders::segmented_scan
