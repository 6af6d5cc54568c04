// Peers on the GPU: what Thrust and cuBLAS offer for the same contract.
#include <dlfcn.h>
#include <thrust/execution_policy.h>
#include <thrust/transform.h>
#include <thrust/version.h>

#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "ladders/saxpy/contract.h"

namespace upsweep::ladders::saxpy {
namespace {

struct thrust_transform {
  static constexpr Story story{.idea = "thrust::transform", .limits = "any n", .source = "NVIDIA CCCL"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    const auto stream = static_cast<cudaStream_t>(a.stream.handle);
    thrust::transform(thrust::cuda::par_nosync.on(stream), a.x, a.x + a.n, a.y, a.out, a.f);
    return status_of(cudaGetLastError());
  }
};

// cuBLAS, where the machine has the toolkit's major version of it: looked for when the program runs, so that nothing
// that links this library needs it.
struct cublas {
  static constexpr Story story{
      .idea = "cublasSaxpy, after a copy of y where out is not y", .limits = "f32, f64", .source = "NVIDIA cuBLAS"};
  template <class T, class>
  static constexpr bool supports = std::is_floating_point_v<T>;

  static void* function(const char* name) {
    static void* const library =
        dlopen(("libcublas.so." + std::to_string(CUDART_VERSION / 1000)).c_str(), RTLD_LAZY | RTLD_LOCAL);
    return library ? dlsym(library, name) : nullptr;
  }
  // A handle for the whole program; null where cuBLAS does not start. Its state lies on the device.
  static void* handle() {
    static void* const made = [] {
      void* handle = nullptr;
      const auto create = reinterpret_cast<int (*)(void**)>(function("cublasCreate_v2"));
      return create && create(&handle) == 0 ? handle : nullptr;
    }();
    return made;
  }
  template <class T, class>
  static Status run(const Args<T>& a) {
    using SetStream = int (*)(void* handle, cudaStream_t);
    using Axpy =
        int (*)(void* handle, std::int64_t n, const T* a, const T* x, std::int64_t step_x, T* y, std::int64_t step_y);
    static const auto set_stream = reinterpret_cast<SetStream>(function("cublasSetStream_v2"));
    static const auto axpy =
        reinterpret_cast<Axpy>(function(sizeof(T) == 4 ? "cublasSaxpy_v2_64" : "cublasDaxpy_v2_64"));
    if (!handle() || !set_stream || !axpy) return {Code::unsupported, 0, "cuBLAS does not start"};
    const auto stream = static_cast<cudaStream_t>(a.stream.handle);
    if (a.out != a.y)
      if (auto e = cudaMemcpyAsync(a.out, a.y, a.n * sizeof(T), cudaMemcpyDeviceToDevice, stream)) return status_of(e);
    int failed = set_stream(handle(), stream);
    if (!failed) failed = axpy(handle(), std::int64_t(a.n), &a.f.a, a.x, 1, a.out, 1);
    if (failed) return {Code::device_error, failed, "cuBLAS failed"};
    return {};
  }
};

}  // namespace

Rungs cuda_peers() {
  static const std::string thrust_version = "Thrust " + std::to_string(THRUST_MAJOR_VERSION) + "." +
                                            std::to_string(THRUST_MINOR_VERSION) + "." +
                                            std::to_string(THRUST_SUBMINOR_VERSION);
  static const Rung thrust = as_peer(make_rung<thrust_transform>("thrust", Backend::cuda), thrust_version);
  static const std::vector<const Rung*> all = [] {
    std::vector<const Rung*> found{&thrust};
    if (const auto get = reinterpret_cast<int (*)(int, int*)>(cublas::function("cublasGetProperty"))) {
      int parts[3]{};  // major, minor, patch
      for (int k = 0; k < 3; ++k) get(k, &parts[k]);
      static const std::string version =
          "cuBLAS " + std::to_string(parts[0]) + "." + std::to_string(parts[1]) + "." + std::to_string(parts[2]);
      static const Rung blas = as_peer(make_rung<cublas>("cublas", Backend::cuda), version);
      found.push_back(&blas);
    }
    return found;
  }();
  return all;
}

}  // namespace upsweep::ladders::saxpy
