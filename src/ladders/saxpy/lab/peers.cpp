// What others offer for the same contract, timed beside the ladder on the CPU.
#include <dlfcn.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/version.h>

#include <algorithm>
#include <execution>
#include <vector>

#include "ladders/saxpy/contract.h"

namespace upsweep::ladders::saxpy {
namespace {

constexpr std::string_view std_version = "libstdc++ " __VERSION__;

struct std_transform {
  static constexpr Story story{.idea = "std::transform", .limits = "any n", .source = "the C++ standard library"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    std::transform(a.x, a.x + a.n, a.y, a.out, a.f);
    return {};
  }
};

struct std_par_unseq {
  static constexpr Story story{
      .idea = "std::transform(std::execution::par_unseq)", .limits = "any n", .source = "the C++ standard library"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    std::transform(std::execution::par_unseq, a.x, a.x + a.n, a.y, a.out, a.f);
    return {};
  }
};

struct tbb_parallel_for {
  static constexpr Story story{
      .idea = "oneapi::tbb::parallel_for, a plain loop inside", .limits = "any n", .source = "oneTBB"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    using Range = oneapi::tbb::blocked_range<std::size_t>;
    oneapi::tbb::parallel_for(Range(0, a.n), [=](const Range& range) {
      for (std::size_t i = range.begin(); i < range.end(); ++i) a.out[i] = a.f(a.x[i], a.y[i]);
    });
    return {};
  }
};

#if defined(_OPENMP)
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
#endif

// OpenBLAS, where the machine has it: looked for when the program runs, so that nothing that links this library needs
// it.
struct openblas {
  static constexpr Story story{.idea = "cblas_saxpy, after cblas_scopy of y where out is not y",
                               .limits = "n below 2^31; f32, f64",
                               .source = "OpenBLAS"};
  static constexpr std::size_t largest = 0x7fffffff;  // n is an int
  template <class T, class>
  static constexpr bool supports = std::is_floating_point_v<T>;

  static void* function(const char* name) {
    static void* const library = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL);
    return library ? dlsym(library, name) : nullptr;
  }
  template <class T, class>
  static Status run(const Args<T>& a) {
    using Copy = void (*)(int n, const T* x, int step_x, T* y, int step_y);
    using Axpy = void (*)(int n, T a, const T* x, int step_x, T* y, int step_y);
    static const auto copy = reinterpret_cast<Copy>(function(sizeof(T) == 4 ? "cblas_scopy" : "cblas_dcopy"));
    static const auto axpy = reinterpret_cast<Axpy>(function(sizeof(T) == 4 ? "cblas_saxpy" : "cblas_daxpy"));
    const int n = static_cast<int>(a.n);
    if (a.out != a.y) copy(n, a.y, 1, a.out, 1);
    axpy(n, a.f.a, a.x, 1, a.out, 1);
    return {};
  }
};

}  // namespace

Rungs cpu_peers() {
  static constexpr Rung plain = as_peer(make_rung<std_transform>("std::transform", Backend::cpu), std_version);
  static constexpr Rung unseq =
      as_peer(make_rung<std_par_unseq>("std::transform(par_unseq)", Backend::cpu), std_version);
  static constexpr Rung tbb =
      as_peer(make_rung<tbb_parallel_for>("tbb::parallel_for", Backend::cpu), "oneTBB " TBB_VERSION_STRING);
  static const std::vector<const Rung*> all = [] {
    std::vector<const Rung*> found{&plain, &unseq, &tbb};
#if defined(_OPENMP)
    static constexpr Rung omp = as_peer(make_rung<openmp>("openmp", Backend::cpu), "libgomp of GCC " __VERSION__);
    found.push_back(&omp);
#endif
    if (const auto config = reinterpret_cast<const char* (*)()>(openblas::function("openblas_get_config"))) {
      static const Rung blas = as_peer(make_rung<openblas>("openblas", Backend::cpu), config());
      found.push_back(&blas);
    }
    return found;
  }();
  return all;
}

}  // namespace upsweep::ladders::saxpy
