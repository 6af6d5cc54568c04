// Copies between the device and ordinary host memory in the middle of a rung, and the wait that goes with them. No such
// call can be captured into a graph: a rung that uses them has `synchronises = true`.
#pragma once
#include <cstring>

#include "kernel/kernel.h"

namespace upsweep {

// Returns when everything before it on the stream is done and the bytes have arrived.
inline Status copy_to_host(void* host, const void* device, std::size_t bytes, Stream stream) {
#if defined(__CUDACC__)
  const auto queue = static_cast<cudaStream_t>(stream.handle);
  if (auto e = cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, queue)) return status_of(e);
  return status_of(cudaStreamSynchronize(queue));
#else
  (void)stream;  // a launch has ended when it returns
  std::memcpy(host, device, bytes);
  return {};
#endif
}

// What comes after it on the stream sees the bytes; returns when `host` may be reused.
inline Status copy_to_device(void* device, const void* host, std::size_t bytes, Stream stream) {
#if defined(__CUDACC__)
  const auto queue = static_cast<cudaStream_t>(stream.handle);
  // Out of pageable memory, the driver has taken a copy of its own when this returns.
  return status_of(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, queue));
#else
  (void)stream;
  std::memcpy(device, host, bytes);
  return {};
#endif
}

}  // namespace upsweep
