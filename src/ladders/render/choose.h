// Chooses the rung for a call of render.
#pragma once
#include "base/choice.h"
#include "base/threshold.h"
#include "ladders/render/binding.h"
#include "ladders/render/limits.h"

namespace upsweep::ladders::render {

// Maximum number of circles for tile_ballot, in which every tile tests all circles. On an H200, 256 snowflakes take
// 9.9 us in tile_ballot and 24.5 us in binned; 256 circles with coverage take 12.2 and 37.4 us. In an image of 1024 x
// 1024 pixels, each further 256 circles cost tile_ballot another round of tests in every tile, 4.7 us, and binned
// almost nothing.
inline constinit Threshold most_for_tile_ballot{"most_for_tile_ballot", 256, 256};
// Maximum number of circles for few_circles. Times on an H200, in us:
//
//                                 few_circles   tile_ballot
//   1 circle                              6.2           8.2
//   256 circles                           8.5          12.2
//   pattern, 1217 circles                 7.1          30.7
inline constinit Threshold most_for_few_circles{"most_for_few_circles", few_circles_most, 300};
// Maximum number of circles for bit_columns. Times on an H200, in us:
//
//              lists   columns of bits
//   rand10k     68.6              53.2
//   biglittle   81.6              56.4
//   rand100k    93.8              70.4
inline constinit Threshold most_for_bit_columns{"most_for_bit_columns", bit_columns_most, 800};
inline Threshold* const thresholds[] = {&most_for_tile_ballot, &most_for_few_circles, &most_for_bit_columns};

inline Choice choose(const Call& c, const Machine& machine) {
  if (!machine.is_gpu()) return {"simd", "all cores"};
  const std::size_t n = c.n() / floats_per_circle;
  const Frame f = frame_of(c);
  const bool plain = is_plain(f);
  if (plain && n <= most_for_few_circles && n <= few_circles_most && machine.meets(few_circles_needs))
    return {"few_circles", "few enough circles for a block's shared memory"};
  if (n <= most_for_tile_ballot) return {"tile_ballot", "few enough circles for a tile to test at once"};
  if (!plain) return {"binned", "snowflakes, or coverage, to which every circle contributes"};
  if (n <= most_for_bit_columns && n <= bit_columns_most && machine.meets(bit_columns_needs))
    return {"bit_columns", "few enough circles for one bit per circle and bin"};
  if (!machine.meets(list_ends_needs)) return {"binned", "a GPU without 112 KiB of shared memory per block"};
  if (f.eps == 0) return {"list_ends", "many circles: the last ones decide"};
  return {"list_parts", "many circles, and an eps: several blocks may share a list"};
}

}  // namespace upsweep::ladders::render
