// Reserves address space for the emulator: far more than it uses, which costs nothing, but under a limit (ulimit -v)
// only part of what the limit leaves.
#pragma once
#include <cstddef>

namespace upsweep::simt {

// Returns the number of bytes that can still be reserved; without a limit, 2^46, more than any machine's memory.
std::size_t available_addresses();

// Reserves a range of addresses. Its pages are zero and are allocated when first touched. Returns null on failure.
void* try_reserve(std::size_t bytes);
// As try_reserve(), but throws Error(out_of_memory) on failure.
void* reserve_addresses(std::size_t bytes);

}  // namespace upsweep::simt
