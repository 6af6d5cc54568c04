// The truth about a sort, bit for bit. Calls have their arrays in host memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/call.h"

namespace upsweep::ladders::sort {

// A key's place in its type's order, as far as it is compared, and its index.
struct Ranked {
  std::uint64_t rank, index;
};
// All keys in the order that the contract promises; or in that of CUB, which is totalOrder but for the zeros, which are
// equal. Reads the inputs of a call, not its outputs.
using Truth = std::vector<Ranked>;
Truth truth_of(const Call& call, bool as_cub = false);

// Returns nothing if the call's outputs are right, otherwise one line about the first mistake. With any order, keys
// that compare as equal may come in any order, each beside its value.
std::optional<std::string> find_mistake(const Truth& truth, const Call& call, bool any_order);

// Whether outputs can be checked without sorting again: keys alone, compared by all their bits, because equal ones are
// the same bits, or zeros or NaN, of which there is one run each; and indices, which say what stands where.
bool proves_itself(const Call& call, bool any_order);
// As find_mistake(), for such a call: without a Truth. Keys alone must be in order, and those of the input by a sum of
// hashes, which misses a mistake once in 2^64; zeros and NaN must be in the input's order. Of indices, the keys must be
// in order, and among equal keys the indices ascend, so that none is there twice.
std::optional<std::string> find_disorder(const Call& call, bool any_order, bool as_cub = false);

}  // namespace upsweep::ladders::sort
