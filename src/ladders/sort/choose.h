// Chooses the rung for a sort call.
#pragma once
#include "base/choice.h"
#include "base/machine.h"
#include "base/threshold.h"
#include "ladders/sort/contract.h"

namespace upsweep::ladders::sort {

// ---- crossovers, measured on an H200 --------------------------------------------------------------------------------

// Minimum keys for counting, per key width. With fewer keys of 16 bits, the 2^16 counters are most of the work: a block
// takes 10 us to clear its table and add it up.
inline constinit Threshold least_counted_of_8_bits{"least_counted_of_8_bits", 1 << 18, 1000};
inline constinit Threshold least_counted_of_16_bits{"least_counted_of_16_bits", 1 << 22, 1000};
// Maximum keys for enumeration, which compares each with all others.
inline constinit Threshold most_enumerated{"most_enumerated", 1 << 13, 1 << 11};
// Maximum keys for cluster, if they have at most 4 bytes and no values. 2^14 u32 keys take 18.2 us in cluster and 19.7
// in hybrid; with values of 4 bytes, 26.0 and 21.1; u64 keys, 34.3 and 30.6.
inline constinit Threshold most_clustered{"most_clustered", 1 << 14, 1 << 12};
// Maximum keys for hybrid, in which one block sorts each bucket.
inline constinit Threshold most_hybrid{"most_hybrid", 5 << 18, 1 << 14};
inline Threshold* const thresholds[] = {&least_counted_of_8_bits, &least_counted_of_16_bits, &most_enumerated,
                                        &most_clustered, &most_hybrid};

// ---- what rungs need, and their limits ------------------------------------------------------------------------------

inline constexpr std::size_t enumeration_most = 1 << 13, cluster_most = 1 << 15, hybrid_most = 3 << 19;  // keys

constexpr Needs counting_needs(std::size_t key_bytes) { return {{}, key_bytes == 1 ? 32'896u : 131'072u}; }
// Shared memory: each of a block's 32 warps holds a part of all keys, in packs of 16 bytes. If a block has 16 keys, a
// part is two shares, each of whole packs. The sums take another 8320 bytes.
constexpr Needs enumeration_needs(std::size_t n, std::size_t key_bytes) {
  const std::size_t number_bytes = key_bytes > 4 ? 8 : 4, shares = n > 1 << 10 && n <= 1 << 12 ? 64 : 32;
  const std::size_t unit = shares * 16;
  return {{}, (n * number_bytes + unit - 1) / unit * unit + 8320};
}
inline constexpr Needs lane_sweep_needs{{Feature::bulk_copy}, 217'104}, match_sweep_needs{{}, 44'688};
// Shared memory: a bucket of 6144 keys, their positions if there are values, and the counters of 16 warps.
constexpr Needs hybrid_needs(std::size_t key_bytes, bool has_values) {
  return {{}, 6144 * key_bytes + (has_values ? 45'216u : 32'932u)};
}
inline constexpr Needs cluster_needs{{Feature::cluster}, 60'288};

// True if keys and values fit the tiles of lane_sweep and match_sweep.
constexpr bool takes_tile_passes(std::size_t n, std::size_t key_bytes, unsigned value_bytes) {
  return key_bytes > 1 && !wide(n) && (value_bytes == 0 || value_bytes == 4 || (value_bytes == 8 && key_bytes > 2));
}

// ---- the choice -----------------------------------------------------------------------------------------------------

// `value_bytes` is 0 without values or indices. `whole_integers`: the keys are integers, compared in all bits.
inline Choice choose(std::size_t n, std::size_t key_bytes, unsigned value_bytes, bool whole_integers,
                     const Machine& machine) {
  if (key_bytes <= 2 && value_bytes == 0 && whole_integers &&
      n >= (key_bytes == 1 ? least_counted_of_8_bits : least_counted_of_16_bits) &&
      machine.meets(counting_needs(key_bytes)))
    return {"counting", "counting these keys is faster than moving them"};
  if (n <= most_enumerated && n <= enumeration_most && machine.meets(enumeration_needs(n, key_bytes)))
    return {"enumeration", "few enough keys to compare each with all others"};
  if (value_bytes == 0 && key_bytes <= 4 && n <= most_clustered && n <= cluster_most && machine.meets(cluster_needs))
    return {"cluster", "all keys fit in a cluster's shared memory"};
  if (key_bytes > 1 && n <= most_hybrid && n <= hybrid_most && machine.meets(hybrid_needs(key_bytes, value_bytes > 0)))
    return {"hybrid", "after one pass, each bucket fits in a block"};
  if (takes_tile_passes(n, key_bytes, value_bytes)) {
    if (machine.meets(lane_sweep_needs)) return {"lane_sweep", "a pass per byte, in large tiles"};
    return {"match_sweep", "a pass per byte, on a GPU without bulk copies or the shared memory of lane_sweep"};
  }
  return {"onesweep_8bit", "a pass per byte, for keys and values of any width"};
}

inline Choice choose(const Call& c, const Machine& machine) {
  if (!machine.is_gpu()) return {"parallel", "all cores"};
  const std::size_t key_bytes = size_of(c.type());
  const bool whole_integers = !is_float(c.type()) && *sort_scalars.read(c.scalars).bits == 8 * key_bytes;
  return choose(c.n(), key_bytes, value_bytes(c), whole_integers, machine);
}

}  // namespace upsweep::ladders::sort
