// The calls that measure the crossovers of histogram.
#pragma once
#include "lab/probe.h"
#include "ladders/histogram/choose.h"

namespace upsweep::ladders::histogram {

inline const lab::Probe probes[] = {
    // Saturating counters.
    {least_until_full, "n", 1 << 16, 1 << 28, Type::u32, Binning::even, {{"counter", "u8"}}},
    // 2^20 bins take the most slices.
    {least_partitioned, "n", 1 << 16, 1 << 28, Type::u32, Binning::even, {{"bins", "1048576"}}},
    {least_slices_partitioned, "bins", 1 << 15, 1 << 20, Type::u32, Binning::even, {}, 1 << 26},
    // 2^21 samples are too few for partitioned.
    {most_slices, "bins", 1 << 15, 1 << 20, Type::u32, Binning::even, {}, 1 << 21},
};

}  // namespace upsweep::ladders::histogram
