// Checks a sort bit for bit. Calls have their arrays in host memory.
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
// All keys in the order of the contract; or in that of CUB, which is totalOrder except that the zeros are equal. Reads
// the inputs of a call, not its outputs.
using Truth = std::vector<Ranked>;
Truth truth_of(const Call& call, bool as_cub = false);

// Returns nothing if the call's outputs are right, otherwise one line about the first mistake. With `any_order`, equal
// keys may come in any order, each beside its value.
std::optional<std::string> find_mistake(const Truth& truth, const Call& call, bool any_order);

// True if outputs can be checked without a second sort: keys alone if all bits are compared, because equal keys are
// identical, or are zeros or NaN, which form one run each; and indices, because they name the key at each position.
bool proves_itself(const Call& call, bool any_order);
// As find_mistake(), for such a call, without a Truth. Keys alone must be in order, and be those of the input by a sum
// of hashes, which misses a mistake with probability 2^-64; zeros and NaN must be in the input's order. The keys of
// indices must be in order, and the indices of equal keys must ascend, so that none occurs twice.
std::optional<std::string> find_disorder(const Call& call, bool any_order, bool as_cub = false);

}  // namespace upsweep::ladders::sort
