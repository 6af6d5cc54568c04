// The order in which a warp that has split up must be put together again: every basic block gets a rank such that a
// loop's blocks are contiguous and what follows the loop ranks after them.
#pragma once
#include <cstdint>

namespace upsweep::simt {

// The tables of clang's -fsanitize-coverage=pc-table,control-flow: all units' of this library, in one range each. They
// arrive before any constructor of ours has run.
void add_block_table(const std::uintptr_t* begin, const std::uintptr_t* end);
void add_flow_table(const std::uintptr_t* begin, const std::uintptr_t* end);
void number_guards(std::uint32_t* begin, std::uint32_t* end);

// Of the block with this guard; 0 where the compiler gave no tables (then lanes are ordered by address).
std::uint32_t block_rank(std::uint32_t guard);
// Must have been called before block_rank; does its work once.
void rank_blocks();

}  // namespace upsweep::simt
