// The Highway targets for which the CPU rungs are not compiled. Include before <hwy/...>.
//
// Code for AVX3_DL differs from code for AVX3 only if bytes are compressed. AVX3_ZEN4 and AVX3_SPR add instructions for
// 16-bit floats, which no rung uses. Processors with SSE4 but without AVX2 are low-power ones or date from before 2013;
// they run the code for SSE2, as every x86-64 processor can, instead of code for SSSE3 or SSE4. Skipping these targets
// more than halves the compile time. Sanitizers make compilation take four times as long: with them, AVX3 is skipped
// where AVX3_DL is compiled, and processors without AVX3_DL run the code for AVX2.
#pragma once

// Highway 1.0.3 has no names for AVX3_SPR and AVX3_ZEN4, only these reserved bits.
#define UPSWEEP_SKIPPED_16_BIT_FLOATS ((1LL << 4) | (1LL << 6))
#define UPSWEEP_SKIPPED_ALWAYS (HWY_SSSE3 | HWY_SSE4 | UPSWEEP_SKIPPED_16_BIT_FLOATS)
#if defined(UPSWEEP_WITHOUT_AVX512)  // a build for a machine without AVX-512
#define UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION (UPSWEEP_SKIPPED_ALWAYS | HWY_AVX3 | HWY_AVX3_DL)
#define UPSWEEP_SKIPPED_TARGETS UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION
#elif defined(UPSWEEP_WITHOUT_AVX2)  // a build for a machine with AVX-512
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
