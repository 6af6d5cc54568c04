// The CPU as a Platform: ordinary memory, synchronous calls.
#include <sys/mman.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/contract.h"
#include "cpu/cache.h"
#include "cpu/host_memory.h"
#include "cpu/parallel.h"

namespace upsweep {

namespace {

// A 2 MiB page takes one TLB entry and one page fault where 4 KiB pages take 512 of each, and the first touch of a
// large buffer is its slowest access.
constexpr std::size_t huge_page = 2 << 20;

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "CPU";
}

std::string kernel_release() {
  utsname name{};
  return uname(&name) == 0 ? std::string(name.sysname) + " " + name.release : "unknown";
}

constexpr const char* compiler_name =
#if defined(__clang__)
    "Clang " __clang_version__;
#else
    "GCC " __VERSION__;
#endif

class CpuPlatform final : public Platform {
 public:
  // Reads the cache sizes here, because a rung could not report a wrong UPSWEEP_CACHE_BYTES.
  CpuPlatform() { last_level_cache_bytes(); }
  Backend backend() const override { return Backend::cpu; }

  Description describe() const override {
    const int cores = hardware_threads();
    return {.device = processor_name() + " (" + std::to_string(cores) + (cores == 1 ? " core)" : " cores)"),
            .driver = kernel_release(),
            .compiler = compiler_name,
            .flags = UPSWEEP_CXX_FLAGS,
            .memory_bytes = host_memory_bytes(),
            .cache_bytes = last_level_cache_bytes(),
            .units = cores};
  }

  Rungs rungs_of(const Contract& contract) const override { return contract.rungs(Backend::cpu); }
  const Machine& machine() const override {
    static const Machine cpu{
        .name = "cpu", .multiprocessors = hardware_threads(), .l2_bytes = last_level_cache_bytes()};
    return cpu;
  }

  void* allocate(std::size_t bytes) override {
    const std::size_t alignment = bytes >= huge_page ? huge_page : 256;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* memory = rounded >= bytes ? std::aligned_alloc(alignment, rounded ? rounded : alignment) : nullptr;
    if (!memory)
      throw Error(Code::out_of_memory, "cannot allocate " + std::to_string(bytes) + " bytes of host memory",
                  "use a smaller n, or free memory");
    if (alignment == huge_page) madvise(memory, rounded, MADV_HUGEPAGE);  // advisory: it may be refused
    return memory;
  }
  void release(void* memory) noexcept override { std::free(memory); }

  void copy_in(void* to, const void* from_host, std::size_t bytes, Stream) override {
    if (bytes) std::memcpy(to, from_host, bytes);
  }
  void copy_out(void* to_host, const void* from, std::size_t bytes, Stream) override {
    if (bytes) std::memcpy(to_host, from, bytes);
  }
  void fill(void* memory, unsigned char byte, std::size_t bytes, Stream) override {
    if (bytes) std::memset(memory, byte, bytes);
  }
  void synchronize(Stream) override {}
};

}  // namespace

Platform& cpu_platform() {
  static CpuPlatform platform;
  return platform;
}

}  // namespace upsweep
