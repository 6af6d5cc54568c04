// Detects the last block of a launch to arrive.
#pragma once
#include "kernel/ptx.h"

namespace upsweep {

// Block-wide: returns true in the last of `count` blocks to make this call. That block may then read what thread 0 of
// every other block wrote before the call, and what their other threads wrote if a barrier preceded the call. The
// counter must be zero, and is left zero. Ends with a barrier.
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
