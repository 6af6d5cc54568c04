// Records which basic blocks of this library have been entered, in a file that the processes of a test run share.
// scripts/unreached_lines.py reads the file and prints the kernel lines that no test runs.
#pragma once
#include <cstdint>

namespace upsweep::simt {

// One byte per guard, in the mapped file; null unless UPSWEEP_SIMT_COVERAGE names a folder.
extern constinit std::uint8_t* entered_blocks;

// Maps <folder>/<library>.blocks. The file holds, for each entry of the block table (control_flow.h), the block's
// address relative to the library, 8 bytes; then, for each entry, a byte that is 1 once the block has been entered.
// Later calls do nothing.
void record_entered_blocks(const std::uintptr_t* begin, const std::uintptr_t* end);

// Marks the block of a guard as entered; guard i + 1 belongs to entry i. Tests the byte before writing it, so that a
// block that is entered again does not dirty the page.
inline void enter_block(std::uint32_t guard) {
  if (entered_blocks && guard && !__atomic_load_n(&entered_blocks[guard - 1], __ATOMIC_RELAXED))
    __atomic_store_n(&entered_blocks[guard - 1], 1, __ATOMIC_RELAXED);
}

}  // namespace upsweep::simt
