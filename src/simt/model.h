// The memory cost model: what the accesses of one warp instruction cost. Pure functions of masks and addresses; the
// rules are the CUDA programming guide's, for compute capability 7 and later.
#pragma once
#include <array>
#include <cstdint>

namespace upsweep::simt {

using LaneAddresses = std::array<std::uint64_t, 32>;  // [lane]; valid for the lanes of the mask only

// Returns the number of wavefronts: passes through the 32 four-byte banks of shared memory. Lanes that access the same
// word share a wavefront. Accesses of 8 and 16 bytes are served per half-warp and quarter-warp.
unsigned shared_wavefronts(std::uint32_t mask, const LaneAddresses& addresses, unsigned bytes);
// Returns the number of wavefronts without bank conflicts: one per whole, half or quarter warp that has active lanes.
unsigned ideal_wavefronts(std::uint32_t mask, unsigned bytes);
// Returns the number of distinct 32-byte sectors of global memory that the lanes access.
unsigned global_sectors(std::uint32_t mask, const LaneAddresses& addresses, unsigned bytes);
// Returns the minimum number of sectors for the bytes of all active lanes; at most `sectors`, because lanes may access
// the same bytes.
unsigned ideal_sectors(std::uint32_t mask, unsigned bytes, unsigned sectors);
// Returns the maximum number of lanes on one address: the number of steps into which an atomic is serialised.
unsigned most_on_one_address(std::uint32_t mask, const LaneAddresses& addresses);

}  // namespace upsweep::simt
