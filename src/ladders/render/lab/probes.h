// The calls that measure the crossovers of render.
#pragma once
#include "lab/probe.h"
#include "ladders/render/choose.h"

namespace upsweep::ladders::render {

inline const lab::Probe probes[] = {
    // With coverage, so that few_circles does not take these calls.
    {most_for_tile_ballot, "n", 16, 10000, Type::f32, {}, {{"channels", "rgbw"}}, 0, "rand10k"},
    {most_for_few_circles, "n", 64, few_circles_most, Type::f32, {}, {}, 0, "rand10k"},
    {most_for_bit_columns, "n", 1 << 10, bit_columns_most, Type::f32, {}, {}, 0, "rand100k"},
};

}  // namespace upsweep::ladders::render
