// The header that every kernel file needs. Under nvcc it provides CUDA and launch(); under a host compiler, the
// emulator's CUDA surface and the same launch().
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/device_limits.h"
#include "base/implementation.h"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#else
#include "simt/cuda.h"
#endif

namespace upsweep {

#if defined(__CUDACC__)
inline constexpr bool emulated = false;
#else
inline constexpr bool emulated = true;
#endif

inline constexpr unsigned warp_size = 32;

// The shape of a launch, by field name: launch(kernel, {.grid = blocks, .block = 256, .stream = s}, args...).
struct Shape {
  dim3 grid = 1;                 // blocks
  dim3 block = 1;                // threads per block, at most 1024
  std::size_t shared_bytes = 0;  // dynamic shared memory per block; above 48 KiB it is requested from the device
  unsigned cluster = 1;          // blocks per cluster (along x); above 8 the non-portable size is requested
  bool overlap = false;          // may start while the previous kernel of the stream ends: see wait_for_previous()
  Stream stream{};
};

#if defined(__CUDACC__)

inline Status status_of(cudaError_t error) {
  if (error == cudaSuccess) return {};
  const Code code = error == cudaErrorMemoryAllocation ? Code::out_of_memory : Code::device_error;
  return {code, static_cast<int>(error), cudaGetErrorString(error)};
}

// Starts `kernel` on the stream; arguments are converted to the kernel's parameter types. Returns at once.
template <class... P, class... A>
Status launch(void (*kernel)(P...), const Shape& shape, A&&... args) {
  if (shape.shared_bytes > 48 * 1024)
    if (auto e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shape.shared_bytes)))
      return status_of(e);
  if (shape.cluster > 8)
    if (auto e = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1)) return status_of(e);
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = static_cast<cudaStream_t>(shape.stream.handle);
  cudaLaunchAttribute attributes[2]{};
  config.attrs = attributes;
  if (shape.cluster > 1) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs++].val.clusterDim = {shape.cluster, 1, 1};
  }
  if (shape.overlap) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  return status_of(cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...));
}

// The block's dynamic shared memory, 128-byte aligned (as bulk copies require).
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char upsweep_dynamic_shared[];
  return reinterpret_cast<T*>(upsweep_dynamic_shared);
}

#else

template <class... P, class... A>
Status launch(void (*kernel)(P...), const Shape& shape, A&&... args) {
  return simt::launch(kernel, {shape.grid, shape.block, shape.shared_bytes, shape.cluster, shape.overlap},
                      static_cast<P>(args)...);
}

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(simt::dynamic_shared());
}

#endif

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return a / b + (a % b != 0); }

// Returns the grid of a persistent kernel: one block per multiprocessor, fewer if there are fewer tiles.
inline unsigned persistent_grid(std::size_t tiles) {
  const auto most = static_cast<std::size_t>(device_limits().multiprocessors);
  return static_cast<unsigned>(tiles < 1 ? 1 : tiles < most ? tiles : most);
}

}  // namespace upsweep
