// Detects the last block of a launch to arrive.
#pragma once
#include "kernel/ptx.h"

namespace upsweep {

// Block-wide: returns true in the last of `count` blocks to call it. That block may then read whatever the others wrote
// in thread 0 before the call, or in any thread before a barrier. The counter is zero, and left zero. Ends with a
// barrier.
__device__ __forceinline__ bool last_block_done(unsigned* counter, unsigned count) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    last = take_ticket(counter) == count - 1;
    if (last) *counter = 0;
  }
  __syncthreads();
  return last;
}

}  // namespace upsweep
