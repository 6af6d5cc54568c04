// Bytes of a word as halves of a word: one instruction on a GPU, three if it is written with shifts and masks.
#pragma once
#include "kernel/kernel.h"

namespace upsweep {

// Returns the lower two bytes, or the upper two, each as 16 bits.
__device__ __forceinline__ unsigned widen_lower_bytes(unsigned word) {
#if defined(__CUDACC__)
  return __byte_perm(word, 0, 0x4140);
#else
  return (word & 0xff) | (word & 0xff00) << 8;
#endif
}
__device__ __forceinline__ unsigned widen_upper_bytes(unsigned word) {
#if defined(__CUDACC__)
  return __byte_perm(word, 0, 0x4342);
#else
  return widen_lower_bytes(word >> 16);
#endif
}

}  // namespace upsweep
