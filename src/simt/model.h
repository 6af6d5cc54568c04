// The memory cost model: what the accesses of one warp instruction cost. Pure functions of masks and addresses; the
// rules are the CUDA programming guide's, for compute capability 7 and later.
#pragma once
#include <array>
#include <cstdint>

namespace upsweep::simt {

using LaneAddresses = std::array<std::uint64_t, 32>;  // [lane]; valid for the lanes of the mask only

// Wavefronts: passes through the 32 four-byte banks of shared memory. Lanes that read the same word share one. Accesses
// of 8 and 16 bytes are served per half-warp and quarter-warp.
unsigned shared_wavefronts(std::uint32_t mask, const LaneAddresses& addresses, unsigned bytes);
// The same without bank conflicts: one wavefront per part of the warp that has active lanes.
unsigned ideal_wavefronts(std::uint32_t mask, unsigned bytes);
// Distinct 32-byte sectors of global memory.
unsigned global_sectors(std::uint32_t mask, const LaneAddresses& addresses, unsigned bytes);
// The minimum number of sectors for these bytes, but at most `sectors`, because lanes may read the same bytes.
unsigned ideal_sectors(std::uint32_t mask, unsigned bytes, unsigned sectors);
// The maximum number of lanes on one address, which is the number of serial steps of an atomic.
unsigned most_on_one_address(std::uint32_t mask, const LaneAddresses& addresses);

}  // namespace upsweep::simt
