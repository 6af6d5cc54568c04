// Other libraries' CPU implementations of the same contract.
#include "lab/peers.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_scan.h>

#include <execution>
#include <numeric>
#include <type_traits>

#include "ladders/scan/binding.h"

namespace upsweep::ladders::scan {
namespace {

template <const auto&... policy>
struct std_scan {
  static constexpr Story story{.idea = "std::exclusive_scan, std::inclusive_scan, with std::execution::par if named",
                               .limits = "any n",
                               .source = "the C++ standard library"};
  // With a policy, libstdc++ 12 starts a float scan with T{} for every operator, so minima of positive numbers are 0.
  template <class T, class Op>
  static constexpr bool supports = sizeof...(policy) == 0 || std::is_integral_v<T> || std::is_same_v<Op, Sum>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    constexpr T neutral = Op::template neutral<T>();
    if (a.inclusive)
      std::inclusive_scan(policy..., a.in, a.in + a.n, a.out, a.op, neutral);
    else
      std::exclusive_scan(policy..., a.in, a.in + a.n, a.out, neutral, a.op);
    return {};
  }
};

struct tbb_parallel_scan {
  static constexpr Story story{
      .idea = "oneapi::tbb::parallel_scan over a plain loop", .limits = "any n", .source = "oneTBB"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    using Range = oneapi::tbb::blocked_range<std::size_t>;
    oneapi::tbb::parallel_scan(
        Range(0, a.n), Op::template neutral<T>(),
        [&](const Range& range, T prefix, bool is_final) {
          for (std::size_t i = range.begin(); i < range.end(); ++i) {
            const T next = a.op(prefix, a.in[i]);
            if (is_final) a.out[i] = a.inclusive ? next : prefix;
            prefix = next;
          }
          return prefix;
        },
        a.op);
    return {};
  }
};

struct openmp_simd {
  static constexpr Story story{.idea = "#pragma omp simd reduction(inscan, +), one core",
                               .limits = "elements of 4 and 8 bytes; not in place",
                               .source = "OpenMP 5.0"};
  template <class T, class Op>
  static constexpr bool supports = std::is_same_v<Op, Sum> && sizeof(T) >= 4;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    using W = typename detail::Wrapping<T>::type;
    const T* const in = a.in;
    T* const out = a.out;
    W sum{};
    if (a.inclusive) {
#pragma omp simd reduction(inscan, + : sum)
      for (std::size_t i = 0; i < a.n; ++i) {
        sum += static_cast<W>(in[i]);
#pragma omp scan inclusive(sum)
        out[i] = static_cast<T>(sum);
      }
    } else {
#pragma omp simd reduction(inscan, + : sum)
      for (std::size_t i = 0; i < a.n; ++i) {
        out[i] = static_cast<T>(sum);
#pragma omp scan exclusive(sum)
        sum += static_cast<W>(in[i]);
      }
    }
    return {};
  }
};

}  // namespace

Rungs cpu_peers() {
  static const lab::PeerList peers{
      lab::peer<Binding, std_scan<>>("std::scan", lab::std_version),
      lab::peer<Binding, std_scan<std::execution::par>>("std::scan(par)", lab::std_version),
      lab::peer<Binding, tbb_parallel_scan>("tbb::parallel_scan", lab::tbb_version),
      lab::peer<Binding, openmp_simd>("omp simd scan", lab::openmp_version)};
  return peers;
}

}  // namespace upsweep::ladders::scan
