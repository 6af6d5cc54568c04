// The truth about a partition, bit for bit. Calls have their arrays in host memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/call.h"

namespace upsweep::ladders::partition {

struct Truth {
  std::vector<std::uint64_t> offsets;  // [buckets + 1]
  // [parts][buckets], for the parts of lab/parts.h: where the part's first key of the bucket goes.
  std::vector<std::uint64_t> first_places;
};
// Reads the inputs of a call, not its outputs.
Truth truth_of(const Call& call);

// The part of the contract that a rung keeps.
struct Promise {
  bool any_order = false;  // within a bucket
  bool offsets = true;     // writes them
};
// Returns nothing if the call's outputs are right, otherwise one line about the first mistake. With any order, a bucket
// must hold the right keys beside the right values: compared by a sum of hashes, which misses a mistake once in 2^64.
std::optional<std::string> find_mistake(const Truth& truth, const Call& call, Promise promise);

}  // namespace upsweep::ladders::partition
