// The host side of a rung: blocking and queued copies between host and device memory, and streams forked from the
// call's stream.
#pragma once
#include <algorithm>
#include <cstring>

#include "kernel/kernel.h"

namespace upsweep {

// ---- copies that the host waits for: a rung that uses them has `synchronises = true` ----

// Copies to the host. Returns once all earlier work on the stream is done and the bytes have arrived.
inline Status copy_to_host(void* host, const void* device, std::size_t bytes, Stream stream) {
  if (stream.dry) {
    std::memset(host, 0, bytes);  // the caller may branch on the bytes
    return {};
  }
#if defined(__CUDACC__)
  const auto queue = static_cast<cudaStream_t>(stream.handle);
  if (auto e = cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, queue)) return status_of(e);
  return status_of(cudaStreamSynchronize(queue));
#else  // an emulated launch is complete when it returns
  std::memcpy(host, device, bytes);
  return {};
#endif
}

// Copies from pageable host memory. Later work on the stream sees the bytes; `host` may be reused on return.
inline Status copy_to_device(void* device, const void* host, std::size_t bytes, Stream stream) {
  if (stream.dry) return {};
#if defined(__CUDACC__)
  const auto queue = static_cast<cudaStream_t>(stream.handle);
  // From pageable memory, the driver has made its own copy by the time this returns.
  return status_of(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, queue));
#else
  std::memcpy(device, host, bytes);
  return {};
#endif
}

// ---- copies that the host does not wait for ----

// Queues a copy between host and device memory, in either direction. With pageable memory the host takes part in the
// copy, so the call may block.
inline Status copy_queued(void* to, const void* from, std::size_t bytes, Stream stream) {
  if (stream.dry) return {};
#if defined(__CUDACC__)
  return status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream.handle)));
#else
  if (bytes) std::memcpy(to, from, bytes);
  return {};
#endif
}

// Streams forked from a call's stream, the trunk. Work on these branches starts after the trunk's earlier work, and
// join() makes the trunk wait for the branches. Work on different branches may run concurrently.
class Fork {
 public:
  static constexpr unsigned most = 8;
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;

#if defined(__CUDACC__)
  Fork(Stream stream, unsigned count)
      : trunk_(static_cast<cudaStream_t>(stream.handle)),
        count_(stream.dry ? 0 : std::min(count, most)),
        dry_(stream.dry) {
    if (dry_) return;
    keep(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    keep(cudaEventRecord(event_, trunk_));
    for (unsigned i = 0; i < count_; ++i) {
      keep(cudaStreamCreateWithFlags(&branch_[i], cudaStreamNonBlocking));
      keep(cudaStreamWaitEvent(branch_[i], event_));
    }
  }
  // Even after an error, later work on the trunk must wait for the work already on the branches.
  ~Fork() {
    if (!joined_) (void)join();
    for (unsigned i = 0; i < count_; ++i)
      if (branch_[i]) cudaStreamDestroy(branch_[i]);
    if (event_) cudaEventDestroy(event_);
  }
  Stream operator[](unsigned i) const { return {branch_[i], dry_}; }
  Status join() {
    joined_ = true;
    for (unsigned i = 0; i < count_; ++i) {
      keep(cudaEventRecord(event_, branch_[i]));
      keep(cudaStreamWaitEvent(trunk_, event_));
    }
    return status_of(error_);
  }

 private:
  void keep(cudaError_t error) {
    if (error_ == cudaSuccess) error_ = error;
  }
  cudaStream_t trunk_, branch_[most]{};
  cudaEvent_t event_ = nullptr;
  unsigned count_;
  bool dry_;
  cudaError_t error_ = cudaSuccess;
  bool joined_ = false;
#else  // emulated work is complete as soon as it is queued
  Fork(Stream stream, unsigned) : trunk_(stream) {}
  Stream operator[](unsigned) const { return trunk_; }
  Status join() { return {}; }

 private:
  Stream trunk_;
#endif
};

}  // namespace upsweep
