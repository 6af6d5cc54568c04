// The order in which a warp that has split up must be put together again: every basic block gets a rank such that a
// loop's blocks are contiguous and what follows the loop ranks after them.
#pragma once
#include <cstdint>
#include <span>

namespace upsweep::simt {

// The tables of clang's -fsanitize-coverage=pc-table,control-flow: all units' of this library, in one range each. They
// arrive before any constructor of ours has run.
void add_block_table(const std::uintptr_t* begin, const std::uintptr_t* end);
void add_flow_table(const std::uintptr_t* begin, const std::uintptr_t* end);
void number_guards(std::uint32_t* begin, std::uint32_t* end);

// The rank of each block by its guard. Empty where the compiler gave no tables: then lanes are ordered by address
// alone.
std::span<const std::uint32_t> block_ranks();

}  // namespace upsweep::simt
