// The calls that measure the crossovers of segmented_scan.
#pragma once
#include "lab/probe.h"
#include "ladders/segmented_scan/choose.h"

namespace upsweep::ladders::segmented_scan {

inline const lab::Probe probes[] = {
    {most_for_lookback, "n", 1 << 10, 1 << 26, Type::f32, Op::sum},
};

}  // namespace upsweep::ladders::segmented_scan
