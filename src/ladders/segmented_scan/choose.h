// Which rung of segmented_scan a call gets.
#pragma once
#include "base/call.h"
#include "base/choice.h"
#include "base/machine.h"
#include "base/threshold.h"

namespace upsweep::ladders::segmented_scan {

// Bytes of input up to which lookback is at least as fast: on an H200, 2^20 words take 9.3 us and in pipeline 12.2;
// 2^22 take the same in both.
inline constinit Threshold most_for_lookback{"most_for_lookback", 8 << 20, 8 << 10};
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
