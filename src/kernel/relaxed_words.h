// Relaxed loads and stores of four words that other blocks access concurrently.
#pragma once
#include "kernel/ptx.h"

namespace upsweep {

// Each word by itself is neither torn nor stale, but the four may become visible at different times.
__device__ __forceinline__ void store_relaxed(uint4* to, uint4 words) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words.x), "r"(words.y),
               "r"(words.z), "r"(words.w)
               : "memory");
#else
  volatile unsigned* const each = reinterpret_cast<volatile unsigned*>(to);
  each[0] = words.x;
  each[1] = words.y;
  each[2] = words.z;
  each[3] = words.w;
#endif
}
__device__ __forceinline__ uint4 load_relaxed(const uint4* from) {
#if defined(__CUDA_ARCH__)
  uint4 words;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "l"(from)
               : "memory");
  return words;
#else
  const volatile unsigned* const each = reinterpret_cast<const volatile unsigned*>(from);
  return uint4{each[0], each[1], each[2], each[3]};
#endif
}

}  // namespace upsweep
