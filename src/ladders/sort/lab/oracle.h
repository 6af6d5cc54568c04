// Checks a sort bit for bit. The calls' arrays are in host memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/call.h"

namespace upsweep::ladders::sort {

// A key's index, and its rank in its type's order by the compared bits.
struct Ranked {
  std::uint64_t rank, index;
};
// All keys in the order of the contract, or in that of CUB, which is totalOrder except that the zeros are equal.
// Depends on the inputs of a call, not on its outputs.
using Truth = std::vector<Ranked>;
Truth truth_of(const Call& call, bool as_cub = false);

// Returns nullopt if the call's outputs are right, otherwise one line about the first mistake. With `any_order`, equal
// keys may come in any order, each with its value.
std::optional<std::string> find_mistake(const Truth& truth, const Call& call, bool any_order);

// True if the outputs can be checked without a second sort. Keys alone can if all bits are compared, because equal keys
// are identical, or are zeros or NaN, which form one run each. Indices can, because they name the key at each position.
bool proves_itself(const Call& call, bool any_order);
// Like find_mistake(), without a Truth, for a call that proves itself. Keys alone must be in order, and a sum of hashes
// must equal that of the input's keys, which misses a mistake with probability 2^-64; zeros and NaN must keep the
// input's order. With indices, the keys that they name must be in order, and the indices of equal keys must ascend, so
// that no index occurs twice.
std::optional<std::string> find_disorder(const Call& call, bool any_order, bool as_cub = false);

}  // namespace upsweep::ladders::sort
