// Other libraries' CPU implementations of the same contract.
#include "lab/peers.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <execution>

#include "ladders/saxpy/binding.h"

namespace upsweep::ladders::saxpy {
namespace {

template <const auto&... policy>
struct std_transform {
  static constexpr Story story{.idea = "std::transform, with the execution policy in its name, if any",
                               .limits = "any n",
                               .source = "the C++ standard library"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    std::transform(policy..., a.x, a.x + a.n, a.y, a.out, a.f);
    return {};
  }
};

struct tbb_parallel_for {
  static constexpr Story story{
      .idea = "oneapi::tbb::parallel_for over a plain loop", .limits = "any n", .source = "oneTBB"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    using Range = oneapi::tbb::blocked_range<std::size_t>;
    oneapi::tbb::parallel_for(Range(0, a.n), [=](const Range& range) {
      for (std::size_t i = range.begin(); i < range.end(); ++i) a.out[i] = a.f(a.x[i], a.y[i]);
    });
    return {};
  }
};

struct openmp {
  static constexpr Story story{
      .idea = "#pragma omp parallel for simd over a plain loop", .limits = "any n", .source = "OpenMP"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    const T *const x = a.x, *const y = a.y;
    T* const out = a.out;
    const Axpy<T> f = a.f;
#pragma omp parallel for simd schedule(static)
    for (std::size_t i = 0; i < a.n; ++i) out[i] = f(x[i], y[i]);
    return {};
  }
};

// OpenBLAS, if it is installed.
struct openblas {
  static constexpr Story story{.idea = "cblas_saxpy, after cblas_scopy of y if out is not y",
                               .limits = "n below 2^31; f32, f64",
                               .source = "OpenBLAS"};
  static constexpr std::size_t largest = 0x7fffffff;  // n is an int
  template <class T, class>
  static constexpr bool supports = std::is_floating_point_v<T>;

  static const lab::OptionalLibrary& library() {
    static const lab::OptionalLibrary found("libopenblas.so.0");
    return found;
  }
  static std::string_view version() {
    const auto config = library().function<const char*()>("openblas_get_config");
    return config ? config() : "";
  }
  template <class T, class>
  static Status run(const Args<T>& a) {
    using Copy = void(int n, const T* x, int step_x, T* y, int step_y);
    using Axpy = void(int n, T a, const T* x, int step_x, T* y, int step_y);
    static Copy* const copy = library().function<Copy>(sizeof(T) == 4 ? "cblas_scopy" : "cblas_dcopy");
    static Axpy* const axpy = library().function<Axpy>(sizeof(T) == 4 ? "cblas_saxpy" : "cblas_daxpy");
    const int n = static_cast<int>(a.n);
    if (a.out != a.y) copy(n, a.y, 1, a.out, 1);
    axpy(n, a.f.a, a.x, 1, a.out, 1);
    return {};
  }
};

}  // namespace

Rungs cpu_peers() {
  static const lab::PeerList peers{
      lab::peer<Binding, std_transform<>>("std::transform", lab::std_version),
      lab::peer<Binding, std_transform<std::execution::par_unseq>>("std::transform(par_unseq)", lab::std_version),
      lab::peer<Binding, tbb_parallel_for>("tbb::parallel_for", lab::tbb_version),
      lab::peer<Binding, openmp>("openmp", lab::openmp_version),
      lab::peer<Binding, openblas>("openblas", openblas::version())};
  return peers;
}

}  // namespace upsweep::ladders::saxpy
