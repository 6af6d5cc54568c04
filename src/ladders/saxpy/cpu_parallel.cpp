// saxpy/parallel: the simd rung on every core, or on one core if waking the others costs more than it gains; with
// non-temporal stores if the output is a separate array and the arrays together exceed the last-level cache.
#include <algorithm>

#include "cpu/parallel.h"
#include "ladders/saxpy/binding.h"
#include "ladders/saxpy/cpu_simd.h"

namespace upsweep::ladders::saxpy {

namespace {  // a rung of the same name may exist on the GPU

constexpr std::size_t arrays = 3;  // x, y, out

// Returns the faster kind of store for an output of `bytes`. In place, the load of x or y has brought the line into the
// cache. With a separate output, an ordinary store first reads the line from memory: four transfers per line instead of
// three. GB/s on two Zen 4 cores with 32 MiB of L3, f32, separate output:
//                 2^20  2^21  2^22  2^26
//   ordinary       155   101    32    23
//   non-temporal    84    85    57    33
Stores stores_for_out(std::size_t bytes, bool in_place) {
  return in_place ? Stores::cached : stores_for(arrays * bytes);
}

struct parallel {
  static constexpr Story story{
      .idea = "the simd rung on every core; non-temporal stores if out is a large separate array",
      .prediction = "ties with simd below 128 KiB in total; from memory a third faster than with ordinary stores",
      .guarantees = "rounded once if the processor has a fused multiply-add",
      .limits = "any n; params: threads",
      .source = "McCalpin, Memory Bandwidth and Machine Balance, 1995"};

  template <class T, class>
  static Status run(const Args<T>& a) {
    static const Span cached = simd_span(type_of<T>(), Stores::cached);
    static const Span around = simd_span(type_of<T>(), Stores::around);
    if (one_core(arrays * a.n * sizeof(T))) {
      cached(&a.f.a, a.x, a.y, a.out, a.n);
    } else {
      const bool in_place = a.out == a.x || a.out == a.y;
      by_parts(a, stores_for_out(a.n * sizeof(T), in_place) == Stores::around ? around : cached);
    }
    return {};
  }

 private:
  template <class T>
  [[gnu::noinline]] static void by_parts(const Args<T>& a, Span apply) {
    const int threads = threads_of(a.tuning);
    const Parts parts = cut(a.n, sizeof(T), threads, arrays);
    upsweep::parallel(parts.count, threads, [&](int i) {
      const std::size_t begin = static_cast<std::size_t>(i) * parts.size;
      apply(&a.f.a, a.x + begin, a.y + begin, a.out + begin, std::min(parts.size, a.n - begin));
    });
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::saxpy
