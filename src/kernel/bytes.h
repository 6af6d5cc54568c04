// Operations on the bytes of a word.
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

// Returns the lower or upper two bytes of a word, each zero-extended to 16 bits: one instruction on a GPU, where shifts
// and masks would take three.
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
// Returns the lower (0) or upper (1) half of a word, zero-extended, by a byte permutation: the compiler cannot merge it
// into an address computation, as it would a shift.
__device__ __forceinline__ unsigned half_of(unsigned word, unsigned half) {
#if defined(__CUDACC__)
  return __byte_perm(word, 0, half ? 0x4432 : 0x4410);
#else
  return word >> half * 16 & 0xffff;
#endif
}
// Returns `word` with byte `byte` replaced by the lowest byte of `from`.
__device__ __forceinline__ unsigned replace_byte(unsigned word, unsigned byte, unsigned from) {
#if defined(__CUDACC__)
  return __byte_perm(word, from, (0x3210 & ~(0xf << byte * 4)) | 4 << byte * 4);
#else
  return (word & ~(0xffu << byte * 8)) | (from & 0xff) << byte * 8;
#endif
}
// Returns byte `byte` of `word` as the lowest byte, below the upper three bytes of `above`, whose four bytes must be
// equal.
__device__ __forceinline__ unsigned byte_under(unsigned word, unsigned byte, unsigned above) {
#if defined(__CUDACC__)
  return __byte_perm(word, above, 0x4440 | byte);
#else
  return (word >> byte * 8 & 0xff) | (above & ~0xffu);
#endif
}

}  // namespace upsweep
