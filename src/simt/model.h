// The memory cost model: what the accesses of one warp instruction cost. Pure functions of masks and addresses; the
// rules are the CUDA programming guide's, for compute capability 7 and later.
#pragma once
#include <array>
#include <cstdint>

namespace upsweep::simt {

using LaneAddresses = std::array<std::uint64_t, 32>;  // [lane]; valid for the lanes of the mask only

// Wavefronts: passes through the 32 four-byte banks of shared memory. Lanes that read the same word share one. Accesses
// of 8 and 16 bytes are served by half and quarter warp.
unsigned shared_wavefronts(std::uint32_t mask, const LaneAddresses& addresses, unsigned bytes);
// The same without bank conflicts: one wavefront for each part of the warp that takes part.
unsigned ideal_wavefronts(std::uint32_t mask, unsigned bytes);
// Distinct 32-byte sectors of global memory.
unsigned global_sectors(std::uint32_t mask, const LaneAddresses& addresses, unsigned bytes);
// The fewest sectors that hold as many bytes, at most `sectors`, because lanes may read the same bytes.
unsigned ideal_sectors(std::uint32_t mask, unsigned bytes, unsigned sectors);
// The most lanes on one address: an atomic's serial steps.
unsigned most_on_one_address(std::uint32_t mask, const LaneAddresses& addresses);

}  // namespace upsweep::simt
