// Highway targets that our code is not compiled for, although it could be. Include before <hwy/...>.
//
// AVX3_DL differs from AVX3 only if bytes are compressed. Processors with SSE4 but without AVX2 are low-power ones or
// date from before 2013, so the SSE2 code, which every x86-64 runs, replaces that of SSSE3 and SSE4. Skipping these
// targets more than halves the compile time. Under sanitizers, which take four times as long to compile, AVX2 replaces
// AVX3 if AVX3_DL is compiled too.
#pragma once

#define UPSWEEP_SKIPPED_ALWAYS (HWY_SSSE3 | HWY_SSE4)
#if defined(UPSWEEP_WITHOUT_AVX512)  // a build for a machine that has none
#define UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION (UPSWEEP_SKIPPED_ALWAYS | HWY_AVX3 | HWY_AVX3_DL)
#define UPSWEEP_SKIPPED_TARGETS UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION
#elif defined(UPSWEEP_WITHOUT_AVX2)  // a build for a machine that has AVX-512
#define UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION (UPSWEEP_SKIPPED_ALWAYS | HWY_AVX2)
#define UPSWEEP_SKIPPED_TARGETS (UPSWEEP_SKIPPED_ALWAYS | HWY_AVX2 | HWY_AVX3_DL)
#else
#if defined(UPSWEEP_SANITIZE_ADDRESS) || defined(UPSWEEP_SANITIZE_THREAD)
#define UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION (UPSWEEP_SKIPPED_ALWAYS | HWY_AVX3)
#else
#define UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION UPSWEEP_SKIPPED_ALWAYS
#endif
#define UPSWEEP_SKIPPED_TARGETS (UPSWEEP_SKIPPED_ALWAYS | HWY_AVX3_DL)
#endif
