// Which rung of render a call gets.
#pragma once
#include "base/choice.h"
#include "base/threshold.h"
#include "ladders/render/binding.h"
#include "ladders/render/limits.h"

namespace upsweep::ladders::render {

// Circles up to which a tile tests all of them at once. On an H200, rgb takes 9.1 us, and 31.9 in binned.
inline constinit Threshold most_for_tile_ballot{"most_for_tile_ballot", 256, 256};
// As many as few_circles keeps. On an H200, pattern's 1217 circles take 7.1 us, 30.7 in tile_ballot and 34.1 in binned.
inline constinit Threshold most_for_few_circles{"most_for_few_circles", most_kept, 300};
inline Threshold* const thresholds[] = {&most_for_tile_ballot, &most_for_few_circles};

inline Choice choose(const Call& c, const Machine& machine) {
  if (!machine.is_gpu()) return {"simd", "all cores"};
  const std::size_t n = c.n() / floats_per_circle;
  if (!is_plain(frame_of(c))) return {"binned", "snowflakes, or the coverage, of which every circle is a part"};
  if (n <= most_for_tile_ballot) return {"tile_ballot", "few enough circles for a tile to test at once"};
  if (n <= most_for_few_circles && machine.meets(few_circles_needs))
    return {"few_circles", "few enough circles for a block to keep"};
  if (machine.meets(list_ends_needs)) return {"list_ends", "many circles: the last ones decide"};
  return {"binned", "a GPU without 112 KiB of shared memory per block"};
}

}  // namespace upsweep::ladders::render
