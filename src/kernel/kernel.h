// The header that every kernel file needs. Under nvcc it provides CUDA and launch(); under a host compiler, the
// emulator's CUDA surface and the same launch().
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/implementation.h"
#include "base/machine.h"

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
  std::size_t shared_bytes = 0;  // dynamic shared memory per block
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

// A kernel's properties on one device, on which a launch depends.
struct LoadedKernel {
  const void* kernel;
  int device;
  int capability;                       // of its code, times ten: 80 even on an H100, if there is no newer code
  std::size_t max_dynamic;              // bytes of dynamic shared memory: a block's maximum, less the static part
  mutable std::atomic<bool> requested;  // `max_dynamic` has been requested: see admit()
  const LoadedKernel* next;             // next entry in the same slot of the table
};

// Looks up the kernel on the current device. Queries the driver once per kernel and device, and caches its answers in a
// lock-free hash table, where two threads that race may insert the same entry twice.
inline Status find_loaded(const void* kernel, const LoadedKernel*& found) {
  static std::atomic<const LoadedKernel*> slots[256]{};
  int device = 0;
  if (auto e = cudaGetDevice(&device)) return status_of(e);
  const std::uintptr_t key = reinterpret_cast<std::uintptr_t>(kernel) << 8 | static_cast<unsigned char>(device);
  std::atomic<const LoadedKernel*>& slot = slots[(key * 0x9E3779B97F4A7C15u) >> 56];
  const LoadedKernel* first = slot.load(std::memory_order_acquire);
  for (found = first; found; found = found->next)
    if (found->kernel == kernel && found->device == device) return {};
  cudaFuncAttributes attributes{};
  if (auto e = cudaFuncGetAttributes(&attributes, kernel)) return status_of(e);
  auto* const loaded = new (std::nothrow) LoadedKernel{kernel,
                                                       device,
                                                       std::min(attributes.ptxVersion, machine().capability),
                                                       machine().shared_per_block - attributes.sharedSizeBytes,
                                                       false,
                                                       first};
  if (!loaded) return {Code::out_of_memory, 0, "no memory for a kernel's attributes"};
  while (!slot.compare_exchange_weak(loaded->next, loaded, std::memory_order_acq_rel)) continue;
  found = loaded;
  return {};
}

// Refuses launches that the device cannot run, or would run wrongly: the driver accepts clusters of kernels whose code
// is for an architecture without clusters.
inline Status admit(const void* kernel, Shape& shape) {
  if (shape.shared_bytes == 0 && shape.cluster == 1 && !shape.overlap) return {};
  const LoadedKernel* loaded = nullptr;
  if (const Status status = find_loaded(kernel, loaded); !status) return status;
  if (shape.cluster > 1 && loaded->capability < first_capability(Feature::cluster))
    return {Code::unsupported, 0, "a cluster needs code for compute capability 9.0 or above"};
  if (shape.shared_bytes > loaded->max_dynamic)
    return {Code::unsupported, 0, "the kernel needs more shared memory than a block of this device can have"};
  // The driver grants a kernel 48 KiB of shared memory, static and dynamic together, unless more is requested. Always
  // requests the maximum, so that threads that launch a kernel with different sizes cannot lower each other's limit.
  if (shape.shared_bytes > 0 && !loaded->requested.load(std::memory_order_acquire)) {
    if (auto e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(loaded->max_dynamic)))
      return status_of(e);
    loaded->requested.store(true, std::memory_order_release);
  }
  // wait_for_previous() is empty in code for older architectures, so such a kernel must not start before the previous
  // one has ended.
  if (loaded->capability < first_capability(Feature::overlap)) shape.overlap = false;
  return {};
}

template <class... P>
Status start(void (*kernel)(P...), const Shape& shape, std::type_identity_t<P>... args) {
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
  return status_of(cudaLaunchKernelEx(&config, kernel, args...));
}

// Returns the block's dynamic shared memory, 128-byte aligned (bulk copies need 16 bytes).
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char upsweep_dynamic_shared[];
  return reinterpret_cast<T*>(upsweep_dynamic_shared);
}

#else

// Requests the maximum for any dynamic size, because only the kernel knows how much of its shared memory is static.
inline Status admit(const void* kernel, const Shape& shape) {
  if (shape.shared_bytes > 0) simt::request_dynamic_shared(kernel);
  return {};
}

template <class... P>
Status start(void (*kernel)(P...), const Shape& shape, std::type_identity_t<P>... args) {
  return simt::launch(kernel, {shape.grid, shape.block, shape.shared_bytes, shape.cluster, shape.overlap}, args...);
}

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(simt::dynamic_shared());
}

#endif

// Launches `kernel` on the shape's stream; arguments are converted to the kernel's parameter types. Does not wait for
// the kernel. Does nothing on a dry stream.
template <class... P, class... A>
Status launch(void (*kernel)(P...), const Shape& shape, A&&... args) {
  if (shape.stream.dry) return {};
  Shape admitted = shape;
  if (const Status status = admit(reinterpret_cast<const void*>(kernel), admitted); !status) return status;
  return start(kernel, admitted, static_cast<P>(args)...);
}

// The second argument of __launch_bounds__, the minimum number of resident blocks per multiprocessor: `blocks` blocks
// of `block` threads, or as many as fit on the architecture being compiled for.
constexpr unsigned min_blocks(unsigned block, unsigned blocks) {
#if defined(__CUDA_ARCH__)
  constexpr unsigned threads = most_resident_threads(__CUDA_ARCH__ / 10);
#else
  constexpr unsigned threads = 2048;  // the host pass ignores launch bounds
#endif
  return blocks * block <= threads ? blocks : threads / block;
}

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return a / b + (a % b != 0); }

// Returns the grid of a persistent kernel: one block per multiprocessor, fewer if there are fewer tiles.
inline unsigned persistent_grid(std::size_t tiles) {
  const auto most = static_cast<std::size_t>(machine().multiprocessors);
  return static_cast<unsigned>(tiles < 1 ? 1 : tiles < most ? tiles : most);
}

}  // namespace upsweep
