// Thrust's and cuBLAS's implementations of the same contract.
#include <thrust/execution_policy.h>
#include <thrust/transform.h>
#include <thrust/version.h>

#include <string>

#include "kernel/kernel.h"
#include "lab/peers.h"
#include "ladders/saxpy/binding.h"

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

// cuBLAS of the toolkit's major version, if it is installed.
struct cublas {
  static constexpr Story story{
      .idea = "cublasSaxpy, after a copy of y if out is not y", .limits = "f32, f64", .source = "NVIDIA cuBLAS"};
  template <class T, class>
  static constexpr bool supports = std::is_floating_point_v<T>;

  static const lab::OptionalLibrary& library() {
    static const lab::OptionalLibrary found(("libcublas.so." + std::to_string(CUDART_VERSION / 1000)).c_str());
    return found;
  }
  static std::string version() {
    const auto get = library().function<int(int property, int* value)>("cublasGetProperty");
    int parts[3]{};  // major, minor, patch
    for (int k = 0; get && k < 3; ++k) get(k, &parts[k]);
    return get ? lab::version_text("cuBLAS", parts[0], parts[1], parts[2]) : "";
  }
  // Returns the handle, one per process; null if cuBLAS fails to initialise.
  static void* handle() {
    static void* const made = [] {
      void* handle = nullptr;
      const auto create = library().function<int(void**)>("cublasCreate_v2");
      return create && create(&handle) == 0 ? handle : nullptr;
    }();
    return made;
  }
  template <class T, class>
  static Status run(const Args<T>& a) {
    using Axpy =
        int(void* handle, std::int64_t n, const T* a, const T* x, std::int64_t step_x, T* y, std::int64_t step_y);
    static const auto set_stream = library().function<int(void* handle, cudaStream_t)>("cublasSetStream_v2");
    static const auto axpy = library().function<Axpy>(sizeof(T) == 4 ? "cublasSaxpy_v2_64" : "cublasDaxpy_v2_64");
    if (!handle() || !set_stream || !axpy) return {Code::unsupported, 0, "cuBLAS failed to initialise"};
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
  static const std::string thrust_version = lab::version_text("Thrust", THRUST_MAJOR_VERSION, THRUST_MINOR_VERSION,
                                                              THRUST_SUBMINOR_VERSION),
                           cublas_version = cublas::version();
  static const lab::PeerList peers{lab::peer<Binding, thrust_transform>("thrust", thrust_version),
                                   lab::peer<Binding, cublas>("cublas", cublas_version)};
  return peers;
}

}  // namespace upsweep::ladders::saxpy
