// Which rung of partition a call gets.
#pragma once
#include "base/choice.h"
#include "base/machine.h"
#include "base/threshold.h"
#include "ladders/partition/call.h"

namespace upsweep::ladders::partition {

// ---- crossovers, measured on an H200 --------------------------------------------------------------------------------

// Keys up to which every block of replicated_counts reads all of them. Beyond, L2 is busy with that for longer than
// lane_counters takes.
inline constinit Threshold most_replicated{"most_replicated", 1 << 15, 1 << 12};
// More than 256 buckets take one pass or two. Few keys alone have small tiles in both passes of two_passes: 2^16 keys
// into 2048 buckets take 25.5 us in one pass and 23.7 in two.
inline constinit Threshold most_of_two_passes{"most_of_two_passes", 1 << 17, 1 << 13};
// With values, a tile has half as many keys for as many open ends in the output: 2^28 pairs of 4 and 4 bytes into 2048
// buckets take 4157 us in one pass and 3275 in two, into 512 2395 and 3199; 2^22 into 2048, which L2 holds, 92 and 138.
// Values of 8 and 16 bytes lose, 2978 and 2202 us for 2^27 of 8.
inline constinit Threshold most_buckets_of_pairs{"most_buckets_of_pairs", 512, 512};
inline constinit Threshold most_pairs{"most_pairs", 1 << 22, 1 << 13};
inline Threshold* const thresholds[] = {&most_replicated, &most_of_two_passes, &most_buckets_of_pairs, &most_pairs};

// ---- what rungs need, and their limits ------------------------------------------------------------------------------

inline constexpr Needs lane_counters_needs{{Feature::bulk_copy, Feature::cluster}, 222'224};
inline constexpr Needs passes_in_tile_needs{{Feature::bulk_copy}, 208'912};
inline constexpr Needs overlapped_writes_needs{{Feature::bulk_copy, Feature::cluster}, 226'832};

inline constexpr std::size_t replicated_most = 1 << 15;  // keys
// Its counters for so many buckets, and 1152 bytes. See ReplicatedCounters.
constexpr Needs replicated_counts_needs(unsigned buckets) {
  return {{}, (buckets <= 1 << 11 ? std::size_t(16) * buckets : 4 * (buckets + buckets / 32)) + 1152};
}
// True if the rungs with a table of tiles and buckets, passes_in_tile and overlapped_writes, can have this call.
// `searched`: a key's bucket is found by a search among splitters.
constexpr bool takes_table(std::size_t n, unsigned buckets, bool searched) {
  return !searched && buckets > max_counted && buckets <= max_in_table && !wide(n);
}

// ---- the choice -----------------------------------------------------------------------------------------------------

// For keys of 4 or 8 bytes and buckets of any function; `value_bytes` is 0 without values.
inline Choice choose(std::size_t n, std::size_t key_bytes, unsigned value_bytes, unsigned buckets, bool searched,
                     const Machine& machine) {
  if (n <= most_replicated && n <= replicated_most && machine.meets(replicated_counts_needs(buckets)))
    return {"replicated_counts", "so few keys that every block counts all of them"};
  if (buckets <= max_counted) {
    if (machine.meets(lane_counters_needs)) return {"lane_counters", "one pass, up to 256 buckets"};
    return {"lookback", "up to 256 buckets, on a GPU without bulk copies, clusters or 218 KiB of shared memory"};
  }
  if (takes_table(n, buckets, searched)) {
    if (value_bytes == 0 && n > most_of_two_passes && machine.meets(overlapped_writes_needs))
      return {"overlapped_writes", "up to 2048 buckets in one pass, keys alone"};
    if (key_bytes == 4 && value_bytes == 4 && (buckets <= most_buckets_of_pairs || n <= most_pairs) &&
        machine.meets(passes_in_tile_needs))
      return {"passes_in_tile", "one pass: few buckets, or pairs that L2 holds"};
  }
  return {"two_passes", "more than 256 buckets"};
}

inline Choice choose(const Call& c, const Machine& machine) {
  if (!machine.is_gpu()) return {"parallel", "all cores"};
  return choose(c.n(), size_of(c.type()), value_bytes(c), static_cast<unsigned>(bucket_count(c)),
                c.operation.as<Bucketing>() == Bucketing::splitters, machine);
}

}  // namespace upsweep::ladders::partition
