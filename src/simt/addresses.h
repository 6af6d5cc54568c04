// Address space for the emulator. It reserves far more than it uses, which costs nothing; under a limit (ulimit -v), it
// reserves only part of what the limit leaves.
#pragma once
#include <cstddef>

namespace upsweep::simt {

// Returns the bytes that can still be reserved; without a limit, more than any machine has.
std::size_t available_addresses();

// Reserves addresses; zeroed pages are allocated as they are touched. Returns null on failure.
void* try_reserve(std::size_t bytes);
// The same, but throws Error(out_of_memory).
void* reserve_addresses(std::size_t bytes);

}  // namespace upsweep::simt
