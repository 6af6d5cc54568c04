// Calls that measure the crossovers of partition.
#pragma once
#include "lab/probe.h"
#include "ladders/partition/choose.h"

namespace upsweep::ladders::partition {

inline const lab::Probe probes[] = {
    {most_replicated, "n", 1 << 6, 1 << 15, Type::u32, Bucketing::digit},
    {most_of_two_passes, "n", 1 << 10, 1 << 24, Type::u32, Bucketing::digit, {{"bits", "11"}}},
    // 2^26 pairs are more than most_pairs; 9 to 11 bits are 512 to 2048 buckets.
    {most_buckets_of_pairs, "bits", 9, 11, Type::u32, Bucketing::digit, {{"value_bytes", "4"}}, 1 << 26},
    {most_pairs, "n", 1 << 12, 1 << 26, Type::u32, Bucketing::digit, {{"bits", "11"}, {"value_bytes", "4"}}},
};

}  // namespace upsweep::ladders::partition
