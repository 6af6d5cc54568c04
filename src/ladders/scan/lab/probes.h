// The calls that measure the crossovers of scan.
#pragma once
#include "lab/probe.h"
#include "ladders/scan/choose.h"

namespace upsweep::ladders::scan {

inline const lab::Probe probes[] = {
    {most_for_wave, "n", 1 << 10, 1 << 24, Type::f32, Op::sum},
};

}  // namespace upsweep::ladders::scan
