// Instruction sets of Highway's that our code is not compiled for, although it could be. Include before <hwy/...>.
//
// AVX3_DL's code is that of AVX3 unless bytes are compressed. Processors with SSE4 and no AVX2 are small ones, or of
// before 2013: SSE2's code, which any has, stands for SSSE3's and SSE4's. All together, compiling takes less than half
// the time. Under sanitizers, which take four times as long to compile, AVX2's code stands for AVX3's where AVX3_DL's
// is there too.
#pragma once

#if defined(UPSWEEP_WITHOUT_AVX512)  // sanitizers, on a machine that has none
#define UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#define UPSWEEP_SKIPPED_TARGETS UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION
#else
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
#else
#define UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION (HWY_SSSE3 | HWY_SSE4)
#endif
#define UPSWEEP_SKIPPED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#endif
