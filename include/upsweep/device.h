// A device that runs work: a GPU, the CPU, or an emulated GPU. A Device owns a queue (on CUDA, a stream) and the
// scratch memory of its calls, so it is not thread-safe: create one per thread. Scratch grows with the largest call;
// growing it invalidates CUDA graphs captured earlier.
#pragma once
#include <memory>
#include <string>

#include "upsweep/error.h"
#include "upsweep/types.h"

namespace upsweep {

class Platform;
class Workspace;
struct Stream;
namespace detail {
struct DeviceState;
}

class Device {
 public:
  // Returns the first GPU if there is one, otherwise the CPU.
  static Device best();
  static Device cpu();
  // Throws Error(no_device) if that GPU does not exist or this build has no CUDA; the message says which.
  static Device cuda(int ordinal = 0);
  // Queues work on the caller's stream, a cudaStream_t that must outlive the Device. Use it to run calls between other
  // kernels on that stream, or to capture them into a CUDA graph.
  static Device cuda_on(void* stream, int ordinal = 0);
  // Uses any backend that the program links, such as an emulator; the platform must outlive the Device.
  explicit Device(Platform& platform);

  Device(Device&&) noexcept = default;
  Device& operator=(Device&&) noexcept = default;

  Backend backend() const noexcept;
  std::string name() const;  // "NVIDIA H200", "AMD EPYC 9R14 (2 cores)", "simt"
  // Waits for all work in this device's queue. Throws Error(device_error) for any failure since the last synchronize().
  void synchronize();
  // True while the device's stream is being captured into a CUDA graph.
  bool is_capturing() const;
  void* native_stream() const noexcept;  // the cudaStream_t; null on other backends

  // For calling rungs directly, from the headers in upsweep/src.
  Platform& platform() const noexcept;
  Workspace& workspace() const noexcept;
  Stream stream() const noexcept;

  const std::shared_ptr<detail::DeviceState>& state() const noexcept { return state_; }

 private:
  Device(Platform& platform, Stream stream);
  std::shared_ptr<detail::DeviceState> state_;  // shared with the buffers, which may outlive the Device
};

}  // namespace upsweep
