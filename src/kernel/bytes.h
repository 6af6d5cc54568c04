// Bytes of a word by one instruction on a GPU, where shifts and masks are two or three.
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
// Returns `word` with the lowest byte of `from` in place of its byte number `byte`.
__device__ __forceinline__ unsigned replace_byte(unsigned word, unsigned byte, unsigned from) {
#if defined(__CUDACC__)
  return __byte_perm(word, from, (0x3210 & ~(0xf << byte * 4)) | 4 << byte * 4);
#else
  return (word & ~(0xffu << byte * 8)) | (from & 0xff) << byte * 8;
#endif
}
// Returns byte number `byte`, below the upper three bytes of `above`, which are all alike.
__device__ __forceinline__ unsigned byte_under(unsigned word, unsigned byte, unsigned above) {
#if defined(__CUDACC__)
  return __byte_perm(word, above, 0x4440 | byte);
#else
  return (word >> byte * 8 & 0xff) | (above & ~0xffu);
#endif
}

}  // namespace upsweep
