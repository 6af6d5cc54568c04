// reduce/reproducible: the exact float sum, rounded once, on all cores.
#include <algorithm>
#include <mutex>

#include "cpu/parallel.h"
#include "ladders/reduce/binding.h"
#include "ladders/reduce/cpu_exact.h"

namespace upsweep::ladders::reduce {

namespace {  // a rung of the same name may exist on the GPU

struct reproducible {
  static constexpr Story story{
      .idea = "add without rounding, in vectors if possible; round the total once",
      .prediction =
          "ties with parallel from memory (f32); half its speed in cache, a tenth if exponents span more than 25 "
          "binades",
      .guarantees = "the correctly rounded sum: the same bits in any order, at any thread count, alignment and split",
      .limits = "sums of f32 and f64; any n up to 2^40; params: threads",
      .source = "Demmel and Nguyen 2013; Neal 2015; Collange et al. 2015"};
  static constexpr bool reproducible_bits = true;
  static constexpr bool takes_initial = true;

  template <class T, class Op>
  static constexpr bool supports = std::is_floating_point_v<T>&& std::is_same_v<Op, Sum>;

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    ExactSum<T> total{};
    const int threads = threads_of(a.tuning);
    const Parts parts = cut(a.n, sizeof(T), threads);
    if (parts.count == 1)
      deposit_all(a.in, a.n, total);
    else {
      std::mutex mutex;  // exact sums may be added in any order
      upsweep::parallel(parts.count, threads, [&](int i) {
        const std::size_t begin = static_cast<std::size_t>(i) * parts.size;
        ExactSum<T> part{};
        deposit_all(a.in + begin, std::min(parts.size, a.n - begin), part);
        const std::lock_guard lock(mutex);
        total.add(part);
      });
    }
    if (a.initial.given) total.deposit(a.initial.value);
    *a.out = total.round();
    return {};
  }
};

}  // namespace

extern const Rung cpu_reproducible_rung = make_rung<Binding, reproducible>("reproducible", Backend::cpu);

}  // namespace upsweep::ladders::reduce
