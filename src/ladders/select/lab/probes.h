// The calls that measure the crossovers of select.
#pragma once
#include "lab/probe.h"
#include "ladders/select/choose.h"

namespace upsweep::ladders::select {

inline const lab::Probe probes[] = {
    {most_flagged, "n", 1 << 10, 1 << 24, Type::u32, Selection::select_flagged},
    {most_runs_of_bytes, "n", 1 << 10, 1 << 24, Type::u8, Selection::run_length_encode, {{"run_length", "4"}}},
    {most_runs, "n", 1 << 10, 1 << 24, Type::u32, Selection::run_length_encode, {{"run_length", "4"}}},
    {most_bytes, "n", 1 << 10, 1 << 24, Type::u8, Selection::select_if},
    {most_others, "n", 1 << 10, 1 << 24, Type::u32, Selection::select_if},
};

}  // namespace upsweep::ladders::select
