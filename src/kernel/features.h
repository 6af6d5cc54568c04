// The features that a kernel may use on its device.
#pragma once
#include "base/features.h"

#if !defined(__CUDACC__)
#include "simt/runtime.h"
#endif

namespace upsweep {

// True if the device has the feature: a compile-time constant under nvcc, a run-time test on the emulator, which
// compiles a kernel once for all devices. Kernels branch with `if (has(...))`, so that both branches can be emulated;
// `#if __CUDA_ARCH__` is only for functions that nvcc does not declare for older architectures.
#if defined(__CUDACC__)
__device__ constexpr bool has(Feature feature) {
#if defined(__CUDA_ARCH__)
  return __CUDA_ARCH__ >= 10 * first_capability(feature);
#else
  return (void)feature, true;  // nvcc's host pass, which emits no device code
#endif
}
#else
inline bool has(Feature feature) { return simt::has(feature); }
#endif

}  // namespace upsweep
