// Instruction sets of Highway's that our code is not compiled for, although it could be. Include before <hwy/...>.
//
// SSSE3 code is nearly that of SSE4, and AVX3_DL's that of AVX3 unless bytes are compressed: without them, compiling
// takes half the time. Under sanitizers, which take four times as long to compile, SSE2 stands for SSE4 too.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UPSWEEP_SKIPPED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
#else
#define UPSWEEP_SKIPPED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#define UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION HWY_SSSE3
#endif
