// The interface of a backend: memory, streams and rungs. The CPU, CUDA and the emulator each implement Platform; the
// library and the laboratory access a backend only through it.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/machine.h"
#include "base/rung.h"
#include "upsweep/error.h"

namespace upsweep {

struct Contract;

// The machine and compiler of a run; part of every record.
struct Description {
  std::string device;    // "NVIDIA H200", "AMD EPYC 9R14 (2 cores)", "simt"
  std::string driver;    // CUDA driver and runtime, kernel release
  std::string compiler;  // compiler and version that built the rungs
  std::string flags;
  std::size_t memory_bytes = 0;
  std::size_t cache_bytes = 0;  // last-level cache: benchmarks rotate through buffers larger than this
  int units = 0;                // cores or multiprocessors
};

// One kind of memory: allocation, copies from and to the host, and fills.
class MemorySpace {
 public:
  virtual ~MemorySpace() = default;
  // Returns memory aligned to 256 bytes. Throws Error(out_of_memory).
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  // Copies and fills are stream-ordered; they are complete when the platform's synchronize() returns.
  virtual void copy_in(void* to, const void* from_host, std::size_t bytes, Stream stream = {}) = 0;
  virtual void copy_out(void* to_host, const void* from, std::size_t bytes, Stream stream = {}) = 0;
  virtual void fill(void* memory, unsigned char byte, std::size_t bytes, Stream stream = {}) = 0;
  // Copies `count` elements of 1, 2, 4 or 8 bytes, `stride` bytes apart, to an array in page-locked host memory.
  virtual void copy_out_every(void* to_host, const void* from, std::size_t element, std::size_t stride,
                              std::size_t count, Stream stream = {}) {
    for (std::size_t k = 0; k < count; ++k)
      copy_out(static_cast<std::byte*>(to_host) + k * element, static_cast<const std::byte*>(from) + k * stride,
               element, stream);
  }
};

// A backend. It is also the MemorySpace of its device memory.
class Platform : public MemorySpace {
 public:
  virtual Backend backend() const = 0;
  virtual Description describe() const = 0;
  virtual Rungs rungs_of(const Contract&) const = 0;  // in ladder order
  virtual const Machine& machine() const = 0;
  // Returns the memory of this kind; with a single address space, every kind is the same memory.
  virtual MemorySpace& memory(MemoryKind) { return *this; }
  // True if this platform's kernels can access the memory at this address, whoever allocated it.
  virtual bool reaches(const void*) const { return true; }
  // Waits for the stream. Throws Error(device_error) for any failure on it since the last synchronize().
  virtual void synchronize(Stream stream = {}) = 0;
  // True if the stream's work is done.
  virtual bool is_idle(Stream) const { return true; }
  // Makes this platform's device the calling thread's current device, in a program with several, and returns the
  // previous one. allocate(), copies, fills and synchronize() do so themselves; call it before calling a rung's
  // function.
  virtual int activate() { return 0; }
  // Copies between the memories of two platforms of one backend, in order with this one's stream. All work on `from`
  // must have been done.
  virtual void copy_from(Platform& other, void* to, const void* from, std::size_t bytes, Stream stream = {}) {
    other.copy_out(to, from, bytes);  // backends in host memory
    (void)stream;
  }
  virtual Stream create_stream() { return {}; }
  virtual void destroy_stream(Stream) noexcept {}
  // True while the stream's work is captured into a graph instead of run.
  virtual bool is_capturing(Stream) const { return false; }
  // Makes the device that activate() returned current again.
  virtual void reactivate(int) noexcept {}
};

// Makes a platform's device the calling thread's current device for the lifetime of this object, then makes the
// previous one current again, so that callers who use several GPUs keep theirs.
class Activated {
 public:
  explicit Activated(Platform& platform) : platform_(platform), before_(platform.activate()) {}
  Activated(const Activated&) = delete;
  Activated& operator=(const Activated&) = delete;
  ~Activated() { platform_.reactivate(before_); }

 private:
  Platform& platform_;
  const int before_;
};

// The platforms of this program. cuda_platform() returns null if the program was built without CUDA or finds no such
// GPU; why_no_cuda() returns the reason. The emulators are in simt/report.h.
Platform& cpu_platform();
Platform* cuda_platform(int ordinal = 0);
std::string why_no_cuda();

}  // namespace upsweep
