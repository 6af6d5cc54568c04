// Which features a kernel may use where it runs.
#pragma once
#include "base/features.h"

#if !defined(__CUDACC__)
#include "simt/runtime.h"
#endif

namespace upsweep {

// Whether the device has the feature: a constant of the architecture that nvcc compiles for, a question at run time on
// the emulator, which compiles a kernel once for all devices. So kernels branch with `if (has(...))`, and both branches
// can be emulated; `#if __CUDA_ARCH__` is only for what nvcc does not even declare on older architectures.
#if defined(__CUDACC__)
__device__ constexpr bool has(Feature feature) {
#if defined(__CUDA_ARCH__)
  return __CUDA_ARCH__ >= 10 * first_capability(feature);
#else
  return (void)feature, true;  // nvcc's pass for the host, which keeps no kernel
#endif
}
#else
inline bool has(Feature feature) { return simt::has(feature); }
#endif

}  // namespace upsweep
