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
inline constinit Threshold most_for_few_circles{"most_for_few_circles", few_circles_most, 300};
// As many as bit_columns takes. On an H200, by lists and by bits: rand10k 68.6 and 53.2 us, biglittle 81.6 and 56.4,
// rand100k 93.8 and 70.4.
inline constinit Threshold most_for_bit_columns{"most_for_bit_columns", bit_columns_most, 800};
inline Threshold* const thresholds[] = {&most_for_tile_ballot, &most_for_few_circles, &most_for_bit_columns};

inline Choice choose(const Call& c, const Machine& machine) {
  if (!machine.is_gpu()) return {"simd", "all cores"};
  const std::size_t n = c.n() / floats_per_circle;
  const Frame f = frame_of(c);
  if (!is_plain(f)) return {"binned", "snowflakes, or the coverage, of which every circle is a part"};
  if (n <= most_for_tile_ballot) return {"tile_ballot", "few enough circles for a tile to test at once"};
  if (n <= most_for_few_circles && n <= few_circles_most && machine.meets(few_circles_needs))
    return {"few_circles", "few enough circles for a block to keep"};
  // bit_columns needs less shared memory, but is not measured against binned on GPUs that have less.
  if (!machine.meets(list_ends_needs)) return {"binned", "a GPU without 112 KiB of shared memory per block"};
  if (n <= most_for_bit_columns && n <= bit_columns_most)
    return {"bit_columns", "few enough circles for a bit each and bin"};
  if (f.eps == 0) return {"list_ends", "many circles: the last ones decide"};
  return {"list_parts", "many circles, and an eps: several blocks may share a list"};
}

}  // namespace upsweep::ladders::render
