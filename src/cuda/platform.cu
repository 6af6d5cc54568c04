// The CUDA platform: one NVIDIA GPU.
#include <cuda_runtime.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "base/contract.h"
#include "kernel/kernel.h"

namespace upsweep {

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  const std::string message = std::string(what) + ": " + cudaGetErrorString(error);
  if (error == cudaErrorMemoryAllocation)
    throw Error(Code::out_of_memory, message, "use a smaller n, or free memory on the device");
  throw Error(Code::device_error, message);
}

std::string version(int number) {  // 13000 -> "13.0"
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// Page-locked host memory: the device copies to and from it directly, and the host uses it like any other memory.
class PinnedMemory final : public MemorySpace {
 public:
  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, std::max<std::size_t>(bytes, 1), cudaHostAllocPortable), "cudaHostAlloc");
    return memory;
  }
  void release(void* memory) noexcept override { cudaFreeHost(memory); }
  void copy_in(void* to, const void* from_host, std::size_t bytes, Stream) override {
    cpu_platform().copy_in(to, from_host, bytes);
  }
  void copy_out(void* to_host, const void* from, std::size_t bytes, Stream) override {
    cpu_platform().copy_out(to_host, from, bytes);
  }
  void fill(void* memory, unsigned char byte, std::size_t bytes, Stream) override {
    cpu_platform().fill(memory, byte, bytes);
  }
};

// Writes to page-locked memory. The driver's copy of rows of one element takes 30 ns for each (H200).
template <class T>
__global__ void copy_every_kernel(const std::byte* from, std::size_t stride, std::size_t count, T* to_host) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to_host[i] = *reinterpret_cast<const T*>(from + i * stride);
}

class CudaPlatform final : public Platform {
 public:
  explicit CudaPlatform(int ordinal) : ordinal_(ordinal) {
    const Activated activated(*this);
    check(cudaGetDeviceProperties(&properties_, ordinal), "cudaGetDeviceProperties");
    machine_ = &upsweep::machine();  // throws if UPSWEEP_CAPABILITY is not a known capability
  }
  CudaPlatform(const CudaPlatform&) = delete;
  CudaPlatform& operator=(const CudaPlatform&) = delete;

  int activate() override {
    int before = ordinal_;
    cudaGetDevice(&before);
    if (before != ordinal_) check(cudaSetDevice(ordinal_), "cudaSetDevice");
    return before;
  }
  void reactivate(int before) noexcept override {
    if (before != ordinal_) cudaSetDevice(before);
  }
  Backend backend() const override { return Backend::cuda; }
  Rungs rungs_of(const Contract& contract) const override { return contract.rungs(Backend::cuda); }
  const Machine& machine() const override { return *machine_; }  // read in every call, so it must not call the driver

  Description describe() const override {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    const int capability = 10 * properties_.major + properties_.minor, told = machine().capability;
    const std::string as = told < capability ? " as " + version(1000 * (told / 10) + 10 * (told % 10)) : "";
    return {.device = properties_.name + as,
            .driver = "CUDA driver " + version(driver) + ", runtime " + version(runtime),
            .compiler = "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." + std::to_string(__CUDACC_VER_MINOR__) +
                        "." + std::to_string(__CUDACC_VER_BUILD__),
            .flags = UPSWEEP_CUDA_FLAGS,
            .memory_bytes = properties_.totalGlobalMem,
            .cache_bytes = static_cast<std::size_t>(properties_.l2CacheSize),
            .units = properties_.multiProcessorCount};
  }

  MemorySpace& memory(MemoryKind kind) override {
    activate();
    if (kind == MemoryKind::pinned) return pinned_;
    if (kind == MemoryKind::pageable) return cpu_platform();
    return *this;
  }
  void* allocate(std::size_t bytes) override {
    activate();
    void* memory = nullptr;
    check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)), "cudaMalloc");
    return memory;
  }
  void release(void* memory) noexcept override { cudaFree(memory); }

  void copy_in(void* to, const void* from_host, std::size_t bytes, Stream stream) override {
    activate();
    check(cudaMemcpyAsync(to, from_host, bytes, cudaMemcpyHostToDevice, handle(stream)), "copy to the device");
  }
  void copy_out(void* to_host, const void* from, std::size_t bytes, Stream stream) override {
    activate();
    check(cudaMemcpyAsync(to_host, from, bytes, cudaMemcpyDeviceToHost, handle(stream)), "copy from the device");
  }
  void fill(void* memory, unsigned char byte, std::size_t bytes, Stream stream) override {
    activate();
    check(cudaMemsetAsync(memory, byte, bytes, handle(stream)), "cudaMemset");
  }
  void copy_out_every(void* to_host, const void* from, std::size_t element, std::size_t stride, std::size_t count,
                      Stream stream) override {
    activate();
    constexpr unsigned block = 256;
    const auto grid = static_cast<unsigned>((count + block - 1) / block);
    const auto copy = [&]<class T>(T) {
      copy_every_kernel<<<grid, block, 0, handle(stream)>>>(static_cast<const std::byte*>(from), stride, count,
                                                            static_cast<T*>(to_host));
    };
    if (element == 1) copy(std::uint8_t{});
    if (element == 2) copy(std::uint16_t{});
    if (element == 4) copy(std::uint32_t{});
    if (element == 8) copy(std::uint64_t{});
    check(cudaGetLastError(), "copy from the device");
  }
  void copy_from(Platform& other, void* to, const void* from, std::size_t bytes, Stream stream) override {
    activate();
    const int source = static_cast<CudaPlatform&>(other).ordinal_;
    if (source != ordinal_) use_peer(source);
    check(cudaMemcpyPeerAsync(to, ordinal_, from, source, bytes, handle(stream)), "copy from another device");
  }
  void synchronize(Stream stream) override {
    activate();
    check(cudaStreamSynchronize(handle(stream)), "the device reported");
    check(cudaGetLastError(), "the device reported");
  }
  bool is_idle(Stream stream) const override {
    const cudaError_t state = cudaStreamQuery(handle(stream));
    if (state == cudaErrorNotReady) return false;
    check(state, "the device reported");
    return true;
  }
  Stream create_stream() override {
    activate();
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    return {stream};
  }
  void destroy_stream(Stream stream) noexcept override {
    if (stream.handle) cudaStreamDestroy(handle(stream));
  }

  bool is_capturing(Stream stream) const override {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(handle(stream), &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
  }

  bool reaches(const void* memory) const override {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
      cudaGetLastError();  // clears the query's error, which synchronize() would report
      return false;
    }
    return attributes.type == cudaMemoryTypeDevice ? attributes.device == ordinal_
                                                   : attributes.type != cudaMemoryTypeUnregistered;
  }

 private:
  // Lets this device access the other's memory directly. Without that, the driver copies through host memory.
  void use_peer(int other) {
    if (!peers_.insert(other).second) return;
    int can = 0;
    check(cudaDeviceCanAccessPeer(&can, ordinal_, other), "cudaDeviceCanAccessPeer");
    if (!can) return;
    const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled)
      cudaGetLastError();  // by the caller
    else
      check(error, "cudaDeviceEnablePeerAccess");
  }
  static cudaStream_t handle(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }
  int ordinal_;
  cudaDeviceProp properties_{};
  const Machine* machine_ = nullptr;
  PinnedMemory pinned_;
  std::set<int> peers_;  // whose memory this device may access
};

}  // namespace

namespace {

// Returns the newest architecture, times ten, that the kernels are compiled for and that a device of this capability
// can run.
int newest_code(int capability) {
  constexpr int compiled[] = {__CUDA_ARCH_LIST__};
  int newest = 0;
  for (const int arch : compiled)
    if (arch / 10 <= capability) newest = std::max(newest, arch / 10);
  return newest;
}

Machine machine_of(int device) {
  const auto get = [&](cudaDeviceAttr attribute) {
    int value = 0;
    cudaDeviceGetAttribute(&value, attribute, device);
    return value;
  };
  const int capability = 10 * get(cudaDevAttrComputeCapabilityMajor) + get(cudaDevAttrComputeCapabilityMinor);
  static std::deque<std::string> names;  // a deque, so that the names do not move
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, device);
  names.emplace_back(properties.name);
  return {.name = names.back(),
          .capability = capability,
          .code = newest_code(capability),
          .multiprocessors = get(cudaDevAttrMultiProcessorCount),
          .threads_per_multiprocessor = get(cudaDevAttrMaxThreadsPerMultiProcessor),
          .shared_per_block = static_cast<std::size_t>(get(cudaDevAttrMaxSharedMemoryPerBlockOptin)),
          .shared_per_multiprocessor = static_cast<std::size_t>(get(cudaDevAttrMaxSharedMemoryPerMultiprocessor)),
          .l2_bytes = static_cast<std::size_t>(get(cudaDevAttrL2CacheSize))};
}

}  // namespace

const Machine& machine() {
  static const std::vector<Machine> all = [] {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
    std::vector<Machine> machines;
    for (int device = 0; device < count; ++device) machines.push_back(as_environment_says(machine_of(device)));
    return machines;
  }();
  int device = 0;
  cudaGetDevice(&device);
  return all.at(static_cast<std::size_t>(device));
}

std::string why_no_cuda() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return count == 0 ? "no CUDA device" : "";
}

Platform* cuda_platform(int ordinal) {
  static std::mutex mutex;
  static std::map<int, std::unique_ptr<CudaPlatform>> platforms;
  const std::lock_guard lock(mutex);
  if (const auto found = platforms.find(ordinal); found != platforms.end()) return found->second.get();
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || ordinal < 0 || ordinal >= count) return nullptr;
  return (platforms[ordinal] = std::make_unique<CudaPlatform>(ordinal)).get();
}

}  // namespace upsweep
