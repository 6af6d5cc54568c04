// The expected result of a partition, bit for bit. A call's arrays are in host memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/call.h"

namespace upsweep::ladders::partition {

struct Truth {
  std::vector<std::uint64_t> offsets;  // [buckets + 1]
  // [parts][buckets], for the parts of lab/parts.h: output index of the part's first key of the bucket.
  std::vector<std::uint64_t> first_places;
};
// Computes the expected result from a call's inputs; does not read its outputs.
Truth truth_of(const Call& call);

// The part of the contract that a rung keeps.
struct Promise {
  bool any_order = false;  // of the keys within a bucket
  bool offsets = true;     // the rung writes them
};
// Returns nullopt if the call's outputs are right, otherwise one line about the first mistake. With any_order, a
// bucket's keys and values are compared by a sum of hashes, which misses a mistake with probability 2^-64.
std::optional<std::string> find_mistake(const Truth& truth, const Call& call, Promise promise);

}  // namespace upsweep::ladders::partition
