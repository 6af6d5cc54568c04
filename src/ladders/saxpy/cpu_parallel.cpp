// saxpy/parallel: the simd rung on every core, on one where waking the others costs more than they give, and with
// stores around the caches where the result is too large to stay there.
#include <algorithm>

#include "cpu/parallel.h"
#include "ladders/saxpy/contract.h"
#include "ladders/saxpy/cpu_simd.h"

namespace upsweep::ladders::saxpy {

namespace {  // a rung of the same name may exist on the GPU

constexpr std::size_t arrays = 3;  // x, y, out

// In place, a line is in the cache before it is stored to. A separate one would be read for nothing: four trips to
// memory instead of three. Two Zen 4 cores with 32 MiB, f32, GB/s with stores through the caches and around them: 2^20
// 155 and 84, 2^21 101 and 85, 2^22 32 and 57, 2^26 23 and 33.
Stores stores_for_out(std::size_t bytes, bool in_place) {
  return in_place ? Stores::cached : stores_for(arrays * bytes);
}

struct parallel {
  static constexpr Story story{
      .idea = "the simd rung on every core; stores around the caches where out is a large array of its own",
      .prediction = "ties simd below 128 KiB in all; from memory a third faster than ordinary stores",
      .guarantees = "rounded once where the processor has a fused multiply-add",
      .limits = "any n; params: threads",
      .source = "McCalpin, Memory Bandwidth and Machine Balance, 1995"};

  template <class T, class>
  static Status run(const Args<T>& a) {
    static const Span cached = simd_span(type_of<T>(), Stores::cached);
    static const Span around = simd_span(type_of<T>(), Stores::around);
    if (one_core(arrays * a.n * sizeof(T)))
      cached(&a.f.a, a.x, a.y, a.out, a.n);
    else
      by_parts(a, stores_for_out(a.n * sizeof(T), a.out == a.y) == Stores::around ? around : cached);
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

extern const Rung cpu_parallel_rung = make_rung<parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::saxpy
