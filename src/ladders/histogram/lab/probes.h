// Calls that measure the crossovers of histogram.
#pragma once
#include "lab/probe.h"
#include "ladders/histogram/choose.h"

namespace upsweep::ladders::histogram {

inline const lab::Probe probes[] = {
    // Saturating counters.
    {least_until_full, "n", 1 << 16, 1 << 28, Type::u32, Binning::even, {{"counter", "u8"}}},
    {least_fills, "n", 1 << 24, 1 << 28, Type::u32, Binning::even, {{"counter", "u16"}}},
    // From 2 slices on: too few samples for `partitioned`, then enough.
    {most_slices, "bins", 1 << 16, 1 << 20, Type::f32, Binning::even, {}, 3 << 20},
    {least_slices_partitioned, "bins", 1 << 16, 1 << 20, Type::f32, Binning::even, {}, 1 << 26},
    // 5 slices; 19 slices (H200).
    {least_sliced, "n", 1 << 16, 1 << 24, Type::f32, Binning::even, {{"bins", "262144"}}},
    {least_partitioned, "n", 1 << 16, 1 << 28, Type::f32, Binning::even, {{"bins", "1048576"}}},
    {least_values, "n", 1 << 8, 1 << 18, Type::u8, Binning::even},
};

}  // namespace upsweep::ladders::histogram
