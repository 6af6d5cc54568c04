// Chooses the rung for a call of partition.
#pragma once
#include "base/choice.h"
#include "base/machine.h"
#include "base/threshold.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// ---- crossovers, measured on an H200 --------------------------------------------------------------------------------

// Maximum keys for replicated_counts, whose blocks each read all of them. Beyond this, L2 spends longer on those reads
// than lane_counters takes in all.
inline constinit Threshold most_replicated{"most_replicated", 1 << 15, 1 << 12};
// More than 256 buckets take one pass or two. Up to this many keys without values, both passes of two_passes have small
// tiles: 2^16 keys into 2048 buckets take 25.5 us in one pass and 23.7 in two.
inline constinit Threshold most_of_two_passes{"most_of_two_passes", 1 << 17, 1 << 13};
// With values, a tile has half as many keys but as many partial sectors at the ends of its runs. Pairs of 4 and 4
// bytes, us in one pass and in two: 2^28 into 2048 buckets 4157 and 3275, into 1024 2775 and 3021; 2^24 into 2048 265 and
// 315, 2^25 511 and 515. With values of 8 and 16 bytes one pass loses: 2978 and 2202 us for 2^27 pairs with 8.
inline constinit Threshold most_buckets_of_pairs{"most_buckets_of_pairs", 1024, 512};
inline constinit Threshold most_pairs{"most_pairs", 1 << 24, 1 << 13};
inline Threshold* const thresholds[] = {&most_replicated, &most_of_two_passes, &most_buckets_of_pairs, &most_pairs};

// ---- needs and limits of the rungs ----------------------------------------------------------------------------------

inline constexpr Needs lane_counters_needs{{Feature::bulk_copy, Feature::cluster}, 222'224};
inline constexpr Needs passes_in_tile_needs{{Feature::bulk_copy}, 208'912};
inline constexpr Needs overlapped_writes_needs{{Feature::bulk_copy, Feature::cluster}, 226'832};

inline constexpr std::size_t replicated_most = 1 << 15;  // keys
// Shared memory for the counters, and 1152 bytes. See ReplicatedCounters.
constexpr Needs replicated_counts_needs(unsigned buckets) {
  return {{}, (buckets <= 1 << 11 ? std::size_t(16) * buckets : 4 * (buckets + buckets / 32)) + 1152};
}
// True if passes_in_tile and overlapped_writes, which have a table of tiles and buckets, take this call. `searched`: a
// key's bucket is found by searching the splitters.
constexpr bool takes_table(std::size_t n, unsigned buckets, bool searched) {
  return !searched && buckets > max_counted && buckets <= max_in_table && !wide(n);
}

// ---- the choice -----------------------------------------------------------------------------------------------------

// For keys of 4 or 8 bytes and any bucket function; `value_bytes` is 0 without values.
inline Choice choose(std::size_t n, std::size_t key_bytes, unsigned value_bytes, unsigned buckets, bool searched,
                     const Machine& machine) {
  if (n <= most_replicated && n <= replicated_most && machine.meets(replicated_counts_needs(buckets)))
    return {"replicated_counts", "so few keys that every block can count all of them"};
  if (buckets <= max_counted) {
    if (machine.meets(lane_counters_needs)) return {"lane_counters", "one pass, up to 256 buckets"};
    return {"lookback", "up to 256 buckets, on a GPU without bulk copies, clusters or 218 KiB of shared memory"};
  }
  if (takes_table(n, buckets, searched)) {
    if (value_bytes == 0 && n > most_of_two_passes && machine.meets(overlapped_writes_needs))
      return {"overlapped_writes", "up to 2048 buckets in one pass, keys alone"};
    if (key_bytes == 4 && value_bytes == 4 && (buckets <= most_buckets_of_pairs || n <= most_pairs) &&
        machine.meets(passes_in_tile_needs))
      return {"passes_in_tile", "one pass: few buckets, or few pairs"};
  }
  return {"two_passes", "more than 256 buckets"};
}

inline Choice choose(const Call& c, const Machine& machine) {
  if (!machine.is_gpu()) return {"parallel", "all cores"};
  return choose(c.n(), size_of(c.type()), value_bytes(c), static_cast<unsigned>(bucket_count(c)),
                c.operation.as<Bucketing>() == Bucketing::splitters, machine);
}

}  // namespace upsweep::ladders::partition
