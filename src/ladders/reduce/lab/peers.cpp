// What others offer for the same contract, timed beside the ladder on the CPU.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/version.h>

#include <execution>
#include <numeric>
#include <type_traits>

#include "ladders/reduce/contract.h"

namespace upsweep::ladders::reduce {
namespace {

constexpr std::string_view tbb_version = "oneTBB " TBB_VERSION_STRING;
constexpr std::string_view std_version = "libstdc++ " __VERSION__;

struct std_reduce {
  static constexpr Story story{.idea = "std::reduce", .limits = "any n", .source = "the C++ standard library"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    *a.out = std::reduce(a.in, a.in + a.n, Op::template neutral<T>(), a.op);
    return {};
  }
};

struct std_par_unseq {
  static constexpr Story story{
      .idea = "std::reduce(std::execution::par_unseq)", .limits = "any n", .source = "the C++ standard library"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    *a.out = std::reduce(std::execution::par_unseq, a.in, a.in + a.n, Op::template neutral<T>(), a.op);
    return {};
  }
};

struct tbb_parallel_reduce {
  static constexpr Story story{
      .idea = "oneapi::tbb::parallel_reduce, a plain loop inside", .limits = "any n", .source = "oneTBB"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    using Range = oneapi::tbb::blocked_range<const T*>;
    *a.out = oneapi::tbb::parallel_reduce(
        Range(a.in, a.in + a.n), Op::template neutral<T>(),
        [&](const Range& range, T total) {
          for (const T& x : range) total = a.op(total, x);
          return total;
        },
        a.op);
    return {};
  }
};

#if defined(_OPENMP)
struct openmp {
  static constexpr Story story{
      .idea = "#pragma omp parallel for simd reduction(+) over a plain loop", .limits = "any n", .source = "OpenMP"};
  template <class T, class Op>
  static constexpr bool supports = std::is_same_v<Op, Sum>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    using W = typename detail::Wrapping<T>::type;
    const T* const in = a.in;
    W total{};
#pragma omp parallel for simd schedule(static) reduction(+ : total)
    for (std::size_t i = 0; i < a.n; ++i) total += static_cast<W>(in[i]);
    *a.out = static_cast<T>(total);
    return {};
  }
};
#endif

}  // namespace

Rungs cpu_peers() {
  static constexpr Rung std_reduce_rung = as_peer(make_rung<std_reduce>("std::reduce", Backend::cpu), std_version);
  static constexpr Rung par_unseq_rung =
      as_peer(make_rung<std_par_unseq>("std::reduce(par_unseq)", Backend::cpu), std_version);
  static constexpr Rung tbb_rung =
      as_peer(make_rung<tbb_parallel_reduce>("tbb::parallel_reduce", Backend::cpu), tbb_version);
#if defined(_OPENMP)
  static constexpr Rung omp_rung = as_peer(make_rung<openmp>("openmp", Backend::cpu), "libgomp of GCC " __VERSION__);
  static constexpr const Rung* all[] = {&std_reduce_rung, &par_unseq_rung, &tbb_rung, &omp_rung};
#else
  static constexpr const Rung* all[] = {&std_reduce_rung, &par_unseq_rung, &tbb_rung};
#endif
  return all;
}

}  // namespace upsweep::ladders::reduce
