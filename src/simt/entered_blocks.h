// Records which basic blocks of this library have ever been entered, in a file that processes share. From it,
// scripts/unreached_lines.py prints the kernel lines that no test runs.
#pragma once
#include <cstdint>

namespace upsweep::simt {

// One byte per guard, the file's mapping; null unless UPSWEEP_SIMT_COVERAGE names a folder.
extern constinit std::uint8_t* entered_blocks;

// Maps <folder>/<library>.blocks: the address of each entry of the block table (control_flow.h) as 8 bytes, relative to
// the library; then one byte per entry, which is 1 once the block has been entered. Later calls do nothing.
void record_entered_blocks(const std::uintptr_t* begin, const std::uintptr_t* end);

// Guard i + 1 belongs to entry i. Tests the byte first, so that the pages of a loop's blocks stay clean.
inline void enter_block(std::uint32_t guard) {
  if (entered_blocks && guard && !__atomic_load_n(&entered_blocks[guard - 1], __ATOMIC_RELAXED))
    __atomic_store_n(&entered_blocks[guard - 1], 1, __ATOMIC_RELAXED);
}

}  // namespace upsweep::simt
