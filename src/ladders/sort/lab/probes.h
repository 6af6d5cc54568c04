// The calls that measure the crossovers of sort.
#pragma once
#include "lab/probe.h"
#include "ladders/sort/choose.h"

namespace upsweep::ladders::sort {

inline const lab::Probe probes[] = {
    {most_enumerated, "n", 1 << 6, 1 << 13, Type::u32},
    {most_clustered, "n", 1 << 8, 1 << 15, Type::u32},
    {most_hybrid, "n", 1 << 10, 3 << 19, Type::u32},
    {least_counted_of_8_bits, "n", 1 << 12, 1 << 26, Type::u8},
    {least_counted_of_16_bits, "n", 1 << 14, 1 << 26, Type::u16},
};

}  // namespace upsweep::ladders::sort
