// What a backend gives to everything above it: memory, a queue, rungs, and a way to time work. The CPU, CUDA and the
// emulator each implement Platform once; the lab and the library know nothing else of them.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/rung.h"

namespace upsweep {

// What a run was made on; goes into every record.
struct Description {
  std::string device;    // "NVIDIA H200", "AMD EPYC 9R14 (2 cores)", "simt"
  std::string driver;    // CUDA driver and runtime, kernel release
  std::string compiler;  // compiler and version that built the rungs
  std::string flags;
  std::size_t memory_bytes = 0;
  std::size_t cache_bytes = 0;  // last-level cache: benchmarks rotate among buffers larger than this
  int units = 0;                // cores or multiprocessors
};

// One kind of memory, and the ways in and out of it.
class MemorySpace {
 public:
  virtual ~MemorySpace() = default;
  // Aligned to 256 bytes. Throws Error(out_of_memory).
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  // Copies and fills are ordered on the stream; they have finished when the platform's synchronize() returns.
  virtual void copy_in(void* to, const void* from_host, std::size_t bytes, Stream stream = {}) = 0;
  virtual void copy_out(void* to_host, const void* from, std::size_t bytes, Stream stream = {}) = 0;
  virtual void fill(void* memory, unsigned char byte, std::size_t bytes, Stream stream = {}) = 0;
};

// A backend, which is its own memory's MemorySpace.
class Platform : public MemorySpace {
 public:
  virtual Backend backend() const = 0;
  virtual Description describe() const = 0;
  virtual Rungs rungs() const = 0;  // of every primitive, ladder order; peers last
  // Where memory is one, all kinds are the same.
  virtual MemorySpace& memory(MemoryKind) { return *this; }
  // Waits for the stream; throws Error(device_error) for anything that failed on it since the last call.
  virtual void synchronize(Stream stream = {}) = 0;
  // Launches of this thread go here, where a program has several devices of a kind. Memory and streams see to it
  // themselves; who calls a rung's function does it first.
  virtual void activate() {}
  virtual Stream create_stream() { return {}; }
  virtual void destroy_stream(Stream) noexcept {}

  // Microseconds of each of `samples` runs of enqueue(sample), measured in the way that is honest for this backend: a
  // steady clock on the CPU, events around replays of a captured graph of `batch` calls on CUDA (time is per call).
  // enqueue must do the same work every time, synchronise nothing and allocate nothing.
  using Enqueue = std::function<void(int)>;
  virtual std::vector<double> time_us(const Enqueue& enqueue, int samples, int batch, Stream stream) = 0;
  // The same for work in which the host has a part, so that no graph can hold it (Rung::synchronises, arrays in host
  // memory): the time of the calls themselves, the host's part included. Where time_us does just that, there is nothing
  // to override.
  virtual std::vector<double> time_calls_us(const Enqueue& enqueue, int samples, int batch, Stream stream) {
    return time_us(enqueue, samples, batch, stream);
  }
};

// Scratch memory that grows and is then reused, so that steady-state calls never allocate. Belongs to one stream at a
// time. Areas: scratch holds anything, and so does what a rung keeps while it calls another, which has scratch for
// itself; counters are zero at the start of every call, and every kernel that uses
// them leaves them zero again, which saves a memset a call; kept memory is what the calls before left there.
class Workspace {
 public:
  explicit Workspace(Platform& platform) : platform_(&platform) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  // At least `bytes` of scratch; contents arbitrary. Null if memory ran out: the launcher then returns out_of_memory.
  void* scratch(std::size_t bytes) noexcept { return get(scratch_, bytes, false); }
  void* scratch_of_caller(std::size_t bytes) noexcept { return get(caller_scratch_, bytes, false); }
  // At least `count` counters, all zero.
  unsigned* counters(std::size_t count) noexcept {
    return static_cast<unsigned*>(get(counters_, count * sizeof(unsigned), true));
  }
  struct Kept {
    unsigned long long* words;
    std::size_t count;
  };
  // At least `count` words, zero when they are first handed out; null if memory ran out. For kernel/tagged.h.
  Kept kept(std::size_t count) noexcept {
    void* const words = get(kept_, count * sizeof(unsigned long long), true);
    return {static_cast<unsigned long long*>(words), kept_.bytes / sizeof(unsigned long long)};
  }
  // Bytes held now, all areas. A call that is captured into a graph must not change this.
  std::size_t held() const { return scratch_.bytes + caller_scratch_.bytes + counters_.bytes + kept_.bytes; }
  // True if every counter is zero, as the contract asks; synchronises. For checks.
  bool counters_are_zero();

 private:
  struct Area {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  void* get(Area& area, std::size_t bytes, bool zero) noexcept;
  Platform* platform_;
  Area scratch_, caller_scratch_, counters_, kept_;
};

// The platforms of this program. cuda() is null when the program was built without CUDA or finds no GPU (why() says
// which); the emulators are null where they were not linked in.
Platform& cpu_platform();
Platform* cuda_platform(int ordinal = 0);
std::string why_no_cuda();

}  // namespace upsweep
