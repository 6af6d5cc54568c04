// Chooses the rung for a call of partition.
#pragma once
#include "base/choice.h"
#include "base/machine.h"
#include "base/threshold.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// ---- crossovers, measured on an H200 --------------------------------------------------------------------------------

// Maximum keys for replicated_counts, whose blocks each read all keys. With more, these reads from L2 alone take longer
// than lane_counters.
inline constinit Threshold most_replicated{"most_replicated", 1 << 15, 1 << 12};
// Maximum keys for two passes if one would do (257 to 2048 buckets, no values): with so few keys, both passes have
// small tiles. 2^16 keys into 2048 buckets take 23.7 us in two passes and 25.5 us in one.
inline constinit Threshold most_of_two_passes{"most_of_two_passes", 1 << 17, 1 << 13};
// Maximum buckets, and maximum pairs, for one pass with 4-byte keys and 4-byte values; it is enough that one of the two
// is not exceeded. With values, a tile has half as many keys but as many partial sectors at the ends of its runs. us:
//
//   pairs   buckets   one pass   two passes
//   2^28    2048          4157         3275
//   2^28    1024          2775         3021
//   2^25    2048           511          515
//   2^24    2048           265          315
//
// With values of 8 or 16 bytes, one pass is slower: 2^27 pairs with 8-byte values take 2978 us in one pass and 2202 us
// in two.
inline constinit Threshold most_buckets_of_pairs{"most_buckets_of_pairs", 1024, 512};
inline constinit Threshold most_pairs{"most_pairs", 1 << 24, 1 << 13};
inline Threshold* const thresholds[] = {&most_replicated, &most_of_two_passes, &most_buckets_of_pairs, &most_pairs};

// ---- needs and limits of the rungs ----------------------------------------------------------------------------------

inline constexpr Needs lane_counters_needs{{Feature::bulk_copy, Feature::cluster}, 222'224};
inline constexpr Needs passes_in_tile_needs{{Feature::bulk_copy}, 208'912};
inline constexpr Needs overlapped_writes_needs{{Feature::bulk_copy, Feature::cluster}, 226'832};

inline constexpr std::size_t replicated_most = 1 << 15;  // keys
// Returns the needs of replicated_counts: shared memory for ReplicatedCounters, and 1152 bytes for the kernel's static
// arrays.
constexpr Needs replicated_counts_needs(unsigned buckets) {
  return {{}, (buckets <= 1 << 11 ? std::size_t(16) * buckets : 4 * (buckets + buckets / 32)) + 1152};
}
// True if passes_in_tile and overlapped_writes, which have a table of offsets per tile and bucket, take this call.
// `searched`: a key's bucket is found by searching the splitters.
constexpr bool takes_table(std::size_t n, unsigned buckets, bool searched) {
  return !searched && buckets > max_counted && buckets <= max_in_table && !wide(n);
}

// ---- the choice -----------------------------------------------------------------------------------------------------

// Chooses for keys of 4 or 8 bytes and any bucket function; `value_bytes` is 0 without values.
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
