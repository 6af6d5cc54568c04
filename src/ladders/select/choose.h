// Chooses the rung for a select call.
#pragma once
#include "base/call.h"
#include "base/choice.h"
#include "base/machine.h"
#include "base/threshold.h"
#include "ladders/select/contract.h"

namespace upsweep::ladders::select {

// Maximum inputs for vec16, in bytes; larger ones take pipeline. At powers of two from 2^17 to 2^21 elements of 1, 2, 4
// and 8 bytes on an H200 (results/h200/trials/select-small.jsonl; for lengths, lengths-sizes.jsonl), the rung not
// chosen is at most 13 % faster.
inline constinit Threshold most_flagged{"most_flagged", 256 << 10, 2 << 10};
inline constinit Threshold most_runs_of_bytes{"most_runs_of_bytes", 512 << 10, 2 << 10};  // elements of 1 and 2 bytes
inline constinit Threshold most_runs{"most_runs", 1 << 20, 4 << 10};                      // run_length_encode
inline constinit Threshold most_bytes{"most_bytes", 1 << 20, 2 << 10};                    // elements of 1 byte
inline constinit Threshold most_others{"most_others", 2 << 20, 8 << 10};
inline Threshold* const thresholds[] = {&most_flagged, &most_runs_of_bytes, &most_runs, &most_bytes, &most_others};

inline constexpr Needs pipeline_needs{{Feature::bulk_copy}, 227 * 1024};

// Chooses by operation and size, for any element type, including user-defined ones.
inline Choice choose(Selection selection, std::size_t n, std::size_t element_bytes, const Machine& machine) {
  const Traits does = traits(selection);
  const std::size_t most = does.flags     ? most_flagged
                           : does.lengths ? (element_bytes <= 2 ? most_runs_of_bytes : most_runs)
                                          : (element_bytes == 1 ? most_bytes : most_others);
  if (!machine.meets(pipeline_needs))
    return {"vec16", "a GPU without bulk copies, or without 227 KiB of shared memory"};
  if (n * element_bytes <= most) return {"vec16", "too few tiles to fill a pipeline"};
  return {"pipeline", "tiles pass from warp to warp"};
}

inline Choice choose(const Call& c, const Machine& machine) {
  if (!machine.is_gpu()) return {"parallel", "all cores"};
  return choose(c.operation.as<Selection>(), c.n(), size_of(c.type()), machine);
}

}  // namespace upsweep::ladders::select
