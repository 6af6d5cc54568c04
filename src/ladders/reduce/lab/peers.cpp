// Other libraries' CPU implementations of the same contract.
#include "lab/peers.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <algorithm>
#include <execution>
#include <numeric>
#include <type_traits>

#include "ladders/reduce/binding.h"

namespace upsweep::ladders::reduce {
namespace {

template <const auto&... policy>
struct std_reduce {
  static constexpr Story story{.idea = "std::reduce, with the execution policy in its name, if any",
                               .limits = "any n",
                               .source = "the C++ standard library"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    *a.out = std::reduce(policy..., a.in, a.in + a.n, Op::template neutral<T>(), a.op);
    return {};
  }
};

struct tbb_parallel_reduce {
  static constexpr Story story{
      .idea = "oneapi::tbb::parallel_reduce over a plain loop", .limits = "any n", .source = "oneTBB"};
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

struct std_extreme_element {
  static constexpr Story story{.idea = "std::min_element with the order of argmin or argmax, in which NaN comes first",
                               .limits = "argmin and argmax; any n",
                               .source = "the C++ standard library"};
  template <class T, class Op>
  static constexpr bool supports = is_index_of<Op>;
  template <class T, class Op>
  static Status run(const IndexArgs<T, Op>& a) {
    *a.out = static_cast<std::uint64_t>(std::min_element(a.in, a.in + a.n, &Op::template beats<T>) - a.in);
    return {};
  }
};

}  // namespace

Rungs cpu_peers() {
  static const lab::PeerList peers{
      lab::peer<Binding, std_reduce<>>("std::reduce", lab::std_version),
      lab::peer<Binding, std_reduce<std::execution::par_unseq>>("std::reduce(par_unseq)", lab::std_version),
      lab::peer<Binding, tbb_parallel_reduce>("tbb::parallel_reduce", lab::tbb_version),
      lab::peer<Binding, openmp>("openmp", lab::openmp_version),
      lab::peer<Binding, std_extreme_element>("std::min_element", lab::std_version)};
  return peers;
}

}  // namespace upsweep::ladders::reduce
