// The order in which a diverged warp reconverges: every basic block gets a rank, such that a loop's blocks are
// contiguous and the blocks after the loop rank higher.
#pragma once
#include <cstdint>
#include <span>

namespace upsweep::simt {

// Register the tables of clang's -fsanitize-coverage=pc-table,control-flow, one range each for all units of this
// library. Called before any of our constructors runs.
void add_block_table(const std::uintptr_t* begin, const std::uintptr_t* end);
void add_flow_table(const std::uintptr_t* begin, const std::uintptr_t* end);
void number_guards(std::uint32_t* begin, std::uint32_t* end);

// Returns the rank of each block, indexed by its guard. Empty if the compiler emits no tables; lanes are then ordered
// only by address.
std::span<const std::uint32_t> block_ranks();

}  // namespace upsweep::simt
