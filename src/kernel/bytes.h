// The bytes of a word.
#pragma once
#include "kernel/kernel.h"

namespace upsweep {

// Returns a mask whose bit b is set if byte b is nonzero.
__device__ __forceinline__ unsigned nonzero_bytes(unsigned word) {
  const unsigned high = (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
  // Gathers bits 0, 8, 16 and 24 in bits 24 to 27; no two partial products overlap, so nothing carries.
  return (high >> 7) * 0x01020408u >> 24;
}
__device__ __forceinline__ unsigned nonzero_bytes(const uint4& raw) {
  return nonzero_bytes(raw.x) | nonzero_bytes(raw.y) << 4 | nonzero_bytes(raw.z) << 8 | nonzero_bytes(raw.w) << 12;
}

// Returns the lower two bytes, or the upper two, each as 16 bits: one instruction on a GPU, where shifts and masks are
// three.
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
