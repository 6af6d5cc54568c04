// The expected result of a selection, bit for bit; the condition is reimplemented from the contract. The calls' arrays
// are in host memory.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "base/call.h"

namespace upsweep::ladders::select {

// Returns the number of selected elements. Reads no output.
std::size_t count_selected(const Call& call);

// Returns nullopt if the call's outputs are right and all bytes past them in out[0] and out[2] are still `untouched`;
// otherwise one line about the first mistake.
std::optional<std::string> find_mistake(const Call& call, std::byte untouched);

}  // namespace upsweep::ladders::select
