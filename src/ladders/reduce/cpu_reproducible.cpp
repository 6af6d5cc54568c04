// reduce/reproducible: the exact float sum, rounded once, on all cores.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "cpu/parallel.h"
#include "ladders/reduce/binding.h"
#include "ladders/reduce/cpu_exact.h"
#include "ladders/reduce/cpu_segments.h"

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
  static constexpr bool takes_segments = true;
  static constexpr bool writes_exact = true;

  template <class T, class Op>
  static constexpr bool supports = std::is_floating_point_v<T>&& std::is_same_v<Op, Sum>;

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const int threads = threads_of(a.tuning);
    const auto sum_segment = [&](std::size_t s) { a.out[s] = sum(a.segment(s), threads, a.initial, a.exact); };
    if (a.segments() > 1 && one_core(a.length() * sizeof(T)))
      for_each_segment(a, sum_segment);
    else
      for (std::size_t s = 0; s < a.segments(); ++s) sum_segment(s);
    return {};
  }

 private:
  // Returns the sum of all elements and the initial value, on one core or on `threads`, as cut() says. Writes its exact
  // form to `exact`, unless that is null.
  template <class T, class Op>
  static T sum(std::span<const T> in, int threads, const Initial<T, Op>& initial, std::int64_t* exact) {
    ExactSum<T> total{};
    const Parts parts = cut(in.size(), sizeof(T), threads);
    if (parts.count == 1)
      deposit_all(in.data(), in.size(), total);
    else {
      std::mutex mutex;  // exact sums may be added in any order
      upsweep::parallel(parts.count, threads, [&](int i) {
        const std::size_t begin = static_cast<std::size_t>(i) * parts.size;
        ExactSum<T> part{};
        deposit_all(in.data() + begin, std::min(parts.size, in.size() - begin), part);
        const std::lock_guard lock(mutex);
        total.add(part);
      });
    }
    if (initial.given) total.deposit(initial.value);
    if (exact) {
      total.carry();  // equal sums then have equal words
      std::memcpy(exact, &total, sizeof total);
    }
    return total.round();
  }
};

}  // namespace

extern const Rung cpu_reproducible_rung = make_rung<Binding, reproducible>("reproducible", Backend::cpu);

}  // namespace upsweep::ladders::reduce
