// reduce/parallel: the simd rung on every core, or on one core if waking the others costs more than it gains.
#include <algorithm>

#include "cpu/parallel.h"
#include "ladders/reduce/binding.h"
#include "ladders/reduce/cpu_simd.h"

namespace upsweep::ladders::reduce {

namespace {  // a rung of the same name may exist on the GPU

struct parallel {
  static constexpr Story story{
      .idea = "the simd rung on every core; on one core below a measured size",
      .prediction = "ties simd below 128 KiB, reaches the read ceiling above the caches",
      .guarantees = "an order that depends on the number of cores, the vector width and the alignment",
      .limits = "any n; params: threads",
      .source = "fork and join; McCool, Robison, Reinders, Structured Parallel Programming, 2012"};

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    static const SpanReduction cached = simd_reduction(type_of<T>(), Op::operation, From::caches);
    static const SpanReduction streamed = simd_reduction(type_of<T>(), Op::operation, From::memory);
    if (a.n == 0)
      *a.out = value_of_none<Op, T>();
    else if (one_core(a.n * sizeof(T)))
      cached(a.in, a.n, a.out);
    else
      by_parts(a.in, a.n, a.out, a.op, a.tuning, streamed);
    return {};
  }

 private:
  // Out of line, because a small sum would pay for its stack frame, and by value: if run() passed on the address of its
  // arguments, they would be copied to the stack, with 16-byte loads of what the caller has just stored 8 bytes at a
  // time. Such a load waits until all earlier stores have left the core: 2^10 f32 took 38 ns instead of 26, and 200
  // instead of 134 if the last result's line was not in a cache.
  template <class T, class Op>
  [[gnu::noinline]] static void by_parts(const T* in, std::size_t n, T* out, Op op, const Tuning& tuning,
                                         SpanReduction reduce) {
    const int threads = threads_of(tuning);
    const Parts parts = cut(n, sizeof(T), threads);
    struct alignas(64) Total {  // one cache line each: cores that write to the same line wait for each other
      T value;
    };
    Total totals[Parts::most];
    upsweep::parallel(parts.count, threads, [&](int i) {
      const std::size_t begin = static_cast<std::size_t>(i) * parts.size;
      reduce(in + begin, std::min(parts.size, n - begin), &totals[i].value);
    });
    T total = totals[0].value;
    for (int i = 1; i < parts.count; ++i) total = op(total, totals[i].value);
    *out = total;
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::reduce
