// Hardware features that only some GPUs have.
#pragma once
#include <cstdint>

namespace upsweep {

enum class Feature : std::uint8_t {
  warp_reduce,  // a reduction of 32-bit words over a warp in one instruction
  copy_16,      // asynchronous copies of 16 bytes to shared memory
  bulk_copy,    // the copy engine, and mbarriers that count its bytes
  cluster,      // blocks that access each other's shared memory
  overlap,      // programmatic dependent launch
};

inline constexpr Feature all_features[] = {Feature::warp_reduce, Feature::copy_16, Feature::bulk_copy, Feature::cluster,
                                           Feature::overlap};

// Returns the first compute capability that has the feature, times ten.
constexpr int first_capability(Feature feature) {
  return feature == Feature::warp_reduce || feature == Feature::copy_16 ? 80 : 90;
}

}  // namespace upsweep
