// Searches in sorted arrays.
#pragma once
#include "kernel/warp.h"

namespace upsweep {

// Warp-wide 32-way search: returns the number of elements below `limit`.
template <class T>
__device__ unsigned warp_count_below(const T* ascending,  // [count], the same for all lanes
                                     unsigned count,      // a power of two
                                     T limit) {
  const unsigned lane = threadIdx.x % warp_size;
  unsigned first = 0;  // all earlier elements are below `limit`
  for (unsigned step = count / warp_size;; step /= warp_size) {
    if (step == 0) step = 1;
    const unsigned at = first + lane * step;
    const unsigned lanes = __ballot_sync(all_lanes, at < count && ascending[at] < limit);
    const auto below = static_cast<unsigned>(__popc(lanes));
    if (step == 1) return first + below;
    if (below > 0) first += (below - 1) * step;
  }
}

}  // namespace upsweep
