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
// All keys in the order that the contract promises; or in that of other libraries, for which -0 equals +0. Reads the
// inputs of a call, not its outputs.
using Truth = std::vector<Ranked>;
Truth truth_of(const Call& call, bool equal_zeros = false);

// Returns nothing if the call's outputs are right, otherwise one line about the first mistake. With any order, keys
// that compare as equal may come in any order, each beside its value.
std::optional<std::string> find_mistake(const Truth& truth, const Call& call, bool any_order);

}  // namespace upsweep::ladders::sort
